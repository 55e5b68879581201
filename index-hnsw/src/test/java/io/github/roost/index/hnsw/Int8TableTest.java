package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.distance;
import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.ExactSearch.hits;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables whose searches read a byte a component, against exact search and against tables of floats. */
class Int8TableTest {
    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    private static HnswTable.Builder int8() {
        return HnswTable.builder().efConstruction(100).elementType(ElementType.INT8);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 16, 31, 63, 64, 65, 100, 128, 200, 300})
    void aWideSearchFindsTheTrueNeighborsAtTheirTrueDistances(int dimension) {
        Random random = new Random(dimension);
        float[][] rows = gaussian(1_000, dimension, random);
        float[][] queries = gaussian(30, dimension, random);
        try (HnswTable table = int8().build(ORCHESTRATOR, rows)) {
            assertThat(table.elementType()).isEqualTo(ElementType.INT8);
            assertThat(Fixtures.recall(table, rows, queries, 10, 450)).isGreaterThan(.99);
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void findsAsMuchAsFloatsAtOneWidth(Metric metric) {
        Random random = new Random(61);
        float[][] rows = gaussian(2_000, 48, random);
        float[][] queries = gaussian(200, 48, random);
        try (HnswTable floats =
                        HnswTable.builder().metric(metric).efConstruction(100).build(ORCHESTRATOR, rows);
                HnswTable bytes = int8().metric(metric).build(ORCHESTRATOR, rows)) {
            for (int ef : new int[] {10, 40, 150}) {
                // Two builds differ by what their threads do when.
                assertThat(Fixtures.recall(bytes, rows, queries, 10, ef))
                        .isGreaterThan(Fixtures.recall(floats, rows, queries, 10, ef) - .02);
                assertThat(visited(bytes, queries, ef)).isLessThan(visited(floats, queries, ef) * 11 / 10);
            }
        }
    }

    /** The vectors that searches compare; a search that is wider than its ef compares more. */
    private static long visited(HnswTable table, float[][] queries, int ef) {
        return Arrays.stream(queries)
                .map(query -> table.search(SearchRequest.of(query, 10).effort(ef)))
                .mapToLong(search -> search.join().cost().visited())
                .sum();
    }

    @ParameterizedTest
    @CsvSource({
        "SQUARED_L2, 1e-12",
        "SQUARED_L2, 1e12",
        "INNER_PRODUCT, 1e-5",
        "INNER_PRODUCT, 1e12",
        "COSINE, 1e-25",
        "COSINE, 1e25"
    })
    void theUnitOfTheDataMakesNoDifference(Metric metric, float unit) {
        Random random = new Random(62);
        float[][] rows = Fixtures.scaled(gaussian(1_000, 24, random), unit);
        float[][] queries = Fixtures.scaled(gaussian(30, 24, random), unit);
        try (HnswTable table = int8().metric(metric).build(ORCHESTRATOR, rows)) {
            int hits = 0;
            for (float[] query : queries) {
                SearchResult truth = exact(rows, query, 10, metric, id -> true);
                SearchResult found = table.search(query, 10, 200).join();
                float distance = distance(rows[(int) found.ids()[0]], query, metric);
                assertThat(found.distances()[0]).isCloseTo(distance, withinPercentage(.1));
                hits += hits(truth, found);
            }
            assertThat(hits).isGreaterThan(290);
        }
    }

    @ParameterizedTest
    @CsvSource({"1e-20, 1", "1, 1e15", "1, 1e18", "1e-30, 1e15"})
    void aQueryFarFromAllRowsGetsItsDistance(float rowUnit, float queryUnit) {
        float[][] rows = Fixtures.scaled(gaussian(2_000, 8, new Random(63)), rowUnit);
        float[] query = Fixtures.scaled(gaussian(1, 8, new Random(64)), queryUnit)[0];
        try (HnswTable table = int8().build(ORCHESTRATOR, rows)) {
            SearchResult found = table.search(query, 3, 50).join();
            assertThat(found.size()).isEqualTo(3);
            assertThat(found.distances()[0])
                    .isCloseTo(distance(rows[0], query, Metric.SQUARED_L2), withinPercentage(.01));
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void dimensionsThatAreEqualInAllRowsChangeNothing(Metric metric) {
        Random random = new Random(65);
        float[][] rows = gaussian(2_000, 20, random);
        for (float[] row : rows) {
            row[0] = 3;
            row[7] = -.1f;
            row[19] = 0;
        }
        float[][] queries = gaussian(30, 20, random);
        try (HnswTable table = int8().metric(metric).build(ORCHESTRATOR, rows)) {
            assertThat(Fixtures.recall(table, rows, queries, 10, 200)).isGreaterThan(.97);
        }
    }

    /** Weights in 7 bits would be zero in all other dimensions, which together matter as much as the wide one. */
    @ParameterizedTest
    @EnumSource(Metric.class)
    void aDimensionMuchWiderThanTheOthersLeavesThemTheirSay(Metric metric) {
        Random random = new Random(66);
        float[][] rows = gaussian(1_500, 200, random);
        float[][] queries = gaussian(40, 200, random);
        for (float[][] some : new float[][][] {rows, queries}) {
            for (float[] row : some) {
                row[3] *= 15;
                row[4] = row[4] * 1e-3f + 50;
            }
        }
        try (HnswTable floats =
                        HnswTable.builder().metric(metric).efConstruction(100).build(ORCHESTRATOR, rows);
                HnswTable bytes = int8().metric(metric).build(ORCHESTRATOR, rows)) {
            assertThat(Fixtures.recall(bytes, rows, queries, 10, 150))
                    .isGreaterThan(Fixtures.recall(floats, rows, queries, 10, 150) - .02);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, SQUARED_L2", "1, INNER_PRODUCT", "2, SQUARED_L2", "2, INNER_PRODUCT", "2, COSINE", "3, COSINE"})
    void tinyTablesGiveAllTheyHave(int size, Metric metric) {
        float[][] rows = gaussian(size, 100, new Random(size));
        try (HnswTable table = int8().metric(metric).build(ORCHESTRATOR, rows)) {
            assertThat(table.search(rows[0], 10, 10).join().ids())
                    .isEqualTo(exact(rows, rows[0], 10, metric, id -> true).ids());
        }
    }

    @Test
    void aGraphOfHalvesIsRefused() {
        assertThatThrownBy(() -> HnswTable.builder().elementType(ElementType.FLOAT16))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the element type of a graph must be FLOAT32 or INT8, got FLOAT16");
    }

    @Test
    void equalVectorsAreAllFoundAndTiesAreById() {
        float[][] rows = gaussian(3_000, 40, new Random(67));
        for (int row = 0; row < rows.length; row++) {
            rows[row] = rows[row % 600];
        }
        try (HnswTable table = int8().build(ORCHESTRATOR, rows)) {
            for (int query = 0; query < 50; query++) {
                assertThat(table.search(rows[query], 5, 60).join())
                        .isEqualTo(new SearchResult(
                                new long[] {query, query + 600, query + 1_200, query + 1_800, query + 2_400},
                                new float[5]));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"2, .9", "10, .9", "300, .99"})
    void filteredSearchesFindOnlyAndNearlyAllOfTheAllowed(int every, double min) {
        Random random = new Random(68);
        float[][] rows = gaussian(5_000, 32, random);
        try (HnswTable table = int8().build(ORCHESTRATOR, rows)) {
            IdFilter filter = IdFilter.of(id -> id % every == 0);
            int hits = 0;
            for (float[] query : gaussian(40, 32, random)) {
                SearchResult found = table.search(
                                SearchRequest.of(query, 10).effort(150).filter(filter))
                        .join();
                assertThat(Arrays.stream(found.ids())).allMatch(id -> id % every == 0);
                hits += hits(exact(rows, query, 10, Metric.SQUARED_L2, id -> id % every == 0), found);
            }
            assertThat(hits / 400.0).isGreaterThan(min);
        }
    }

    @Test
    void targetRecallIsMeasuredOnWhatSearchesFind() {
        Random random = new Random(69);
        float[][] rows = gaussian(4_000, 64, random);
        float[][] queries = gaussian(100, 64, random);
        try (HnswTable table = int8().build(ORCHESTRATOR, rows)) {
            int ef = table.effortFor(.9, 10, queries);
            assertThat(ef).isBetween(10, 400);
            assertThat(Fixtures.recall(table, rows, queries, 10, ef)).isGreaterThan(.89);
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void anOpenedTableAnswersAsTheSavedOne(Metric metric, @TempDir Path folder) throws IOException {
        Path file = folder.resolve("table");
        try (HnswTable saved = int8().metric(metric).build(ORCHESTRATOR, gaussian(1_500, 37, new Random(70)))) {
            saved.save(file);
            try (HnswTable opened = HnswTable.open(ORCHESTRATOR, "opened", file)) {
                assertThat(opened.elementType()).isEqualTo(ElementType.INT8);
                assertThat(opened.bytes()).isEqualTo(saved.bytes());
                for (float[] query : gaussian(50, 37, new Random(71))) {
                    assertThat(opened.search(query, 10, 30).join())
                            .isEqualTo(saved.search(query, 10, 30).join());
                }
            }
        }
    }

    @Test
    void theTrafficOfASearchIsACodeAComponentAndTheVectorsComparedAgain() throws Exception {
        Random random = new Random(72);
        float[][] rows = gaussian(3_000, 256, random);
        float[] query = gaussian(1, 256, random)[0];
        try (HnswTable table = int8().build(ORCHESTRATOR, rows)) {
            AtomicLong nodes = new AtomicLong();
            AtomicLong bytes = new AtomicLong();
            table.searchFunction(10, 100).search(query, SearchContext.outside((count, size) -> {
                nodes.addAndGet(count);
                bytes.addAndGet(size);
            }));
            int visits = table.visits(query, 10, 100).length;
            assertThat(nodes.get()).isBetween((long) visits, visits + 200L);
            long reranked = 10 + 2 + 8;
            assertThat(bytes.get()).isEqualTo(nodes.get() * (256 + 16 * 4) + reranked * 256 * 4);
        }
    }

    @Test
    void aTableIsItsVectorsItsNeighborListsAndAByteAComponent() {
        try (HnswTable table = int8().build(ORCHESTRATOR, gaussian(3_000, 128, new Random(73)))) {
            assertThat((double) table.bytes() / (3_000 * (128 * 5 + 16 * 4 * 2)))
                    .isBetween(1.0, 1.1);
        }
    }

    @Test
    void liveTablesMergeIntoBytesToo() throws Exception {
        Random random = new Random(74);
        float[][] rows = gaussian(1_500, 48, random);
        try (LiveTable table = LiveTable.builder()
                .elementType(ElementType.INT8)
                .mergeAfter(400)
                .efConstruction(60)
                .build(ORCHESTRATOR, 48)) {
            for (int row = 0; row < rows.length; row++) {
                table.put(row, rows[row]);
            }
            table.merge();
            for (int row = 0; row < rows.length; row += 2) {
                table.remove(row);
            }
            int hits = 0;
            for (float[] query : gaussian(40, 48, random)) {
                SearchResult found = table.search(query, 10, 100).join();
                assertThat(Arrays.stream(found.ids())).allMatch(id -> id % 2 == 1);
                hits += hits(exact(rows, query, 10, Metric.SQUARED_L2, id -> id % 2 == 1), found);
            }
            assertThat(hits).isGreaterThan(380);
        }
    }
}
