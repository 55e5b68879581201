package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.search.ImageFile;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.spi.BuildWork;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A table with regions answers as one without, and has its searches submitted by region. */
class RegionsTest {
    private static final int REGIONS = 8;

    @Test
    void regionsSayWhereASearchRunsAndNotWhatItFinds(@TempDir Path folder) throws Exception {
        Random random = new Random(25);
        float[][] rows = gaussian(3_000, 16, random);
        Path file = folder.resolve("table");
        try (Orchestrator orchestrator =
                        Orchestrator.builder().topology(Fixtures.twoDomains()).build();
                HnswTable whole = HnswTable.builder().name("whole").build(orchestrator, rows)) {
            assertThat(whole.registration().size()).as("a small table").isEqualTo(1);
            whole.save(file);
            Graph graph = new Graph(ImageFile.open(file));
            RegionRouter regions = HnswTable.regions(new BuildWork(orchestrator, "regions"), graph, REGIONS);
            try (HnswTable divided = new HnswTable(orchestrator, "divided", graph, DomainMemory::migrate, regions)) {
                assertThat(divided.registration().size()).isEqualTo(REGIONS);
                Set<MappingId> ids = new HashSet<>();
                Set<Integer> homes = new HashSet<>();
                for (float[] query : gaussian(200, 16, random)) {
                    assertThat(divided.search(query, 10).join())
                            .isEqualTo(whole.search(query, 10).join());
                    assertThat(divided.search(SearchRequest.of(query, 10)).join())
                            .isEqualTo(whole.search(query, 10).join());
                    MappingId id = divided.mappingId(query);
                    assertThat(id).isEqualTo(divided.registration().id(regions.region(query)));
                    ids.add(id);
                    homes.addAll(orchestrator.homes(id));
                }
                assertThat(ids).hasSizeGreaterThan(REGIONS / 2);
                assertThat(homes).as("new ids are spread over the domains").hasSize(2);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Metric.class,
            names = {"COSINE", "INNER_PRODUCT"})
    void theRegionDoesNotDependOnTheLengthOfAQueryIfItsNeighborsDoNot(Metric metric, @TempDir Path folder)
            throws Exception {
        Random random = new Random(25);
        float[][] rows = gaussian(2_000, 16, random);
        Path file = folder.resolve("rows.roost");
        try (Orchestrator orchestrator =
                        Orchestrator.builder().topology(Fixtures.twoDomains()).build();
                HnswTable table =
                        HnswTable.builder().name("rows").metric(metric).build(orchestrator, rows)) {
            table.save(file);
            RegionRouter regions =
                    HnswTable.regions(new BuildWork(orchestrator, "regions"), new Graph(ImageFile.open(file)), REGIONS);
            Set<Integer> found = new HashSet<>();
            for (float[] query : gaussian(200, 16, random)) {
                int region = regions.region(query);
                found.add(region);
                for (float length : new float[] {1e-6f, 1e-3f, 1e3f}) {
                    float[] scaled = query.clone();
                    for (int d = 0; d < scaled.length; d++) {
                        scaled[d] *= length;
                    }
                    assertThat(regions.region(scaled)).isEqualTo(region);
                }
            }
            assertThat(found).hasSizeGreaterThan(REGIONS / 2);
        }
    }
}
