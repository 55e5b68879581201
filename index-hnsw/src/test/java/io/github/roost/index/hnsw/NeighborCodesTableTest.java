package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.ExactSearch.hits;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableFullException;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables whose searches go by codes of neighbors, against exact search and against tables of floats. */
class NeighborCodesTableTest {
    private static final int VERSION_AT = 8;

    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    private static HnswTable.Builder coded() {
        return HnswTable.builder().efConstruction(100).layout(GraphLayout.NEIGHBOR_CODES);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 16, 31, 64, 100, 128, 200, 300})
    void aWideSearchFindsTheTrueNeighborsAtTheirTrueDistances(int dimension) {
        Random random = new Random(dimension);
        float[][] rows = gaussian(1_000, dimension, random);
        float[][] queries = gaussian(30, dimension, random);
        try (HnswTable table = coded().build(ORCHESTRATOR, rows)) {
            assertThat(table.layout()).isEqualTo(GraphLayout.NEIGHBOR_CODES);
            assertThat(table.elementType()).isEqualTo(ElementType.FLOAT32);
            assertThat(Fixtures.recall(table, rows, queries, 10, 450)).isGreaterThan(.99);
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void findsNearlyAsMuchAsFloatsAtOneWidth(Metric metric) {
        Random random = new Random(91);
        float[][] rows = gaussian(2_000, 48, random);
        float[][] queries = gaussian(200, 48, random);
        try (HnswTable floats =
                        HnswTable.builder().metric(metric).efConstruction(100).build(ORCHESTRATOR, rows);
                HnswTable codes = coded().metric(metric).build(ORCHESTRATOR, rows)) {
            for (int ef : new int[] {10, 40, 150}) {
                assertThat(Fixtures.recall(codes, rows, queries, 10, ef))
                        .isGreaterThan(Fixtures.recall(floats, rows, queries, 10, ef) - .04);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"SQUARED_L2, 1e-12", "SQUARED_L2, 1e12", "INNER_PRODUCT, 1e-5", "INNER_PRODUCT, 1e12", "COSINE, 1e25"})
    void theUnitOfTheDataMakesNoDifference(Metric metric, float unit) {
        Random random = new Random(92);
        float[][] rows = Fixtures.scaled(gaussian(1_000, 24, random), unit);
        float[][] queries = Fixtures.scaled(gaussian(30, 24, random), unit);
        try (HnswTable table = coded().metric(metric).build(ORCHESTRATOR, rows)) {
            int hits = 0;
            for (float[] query : queries) {
                hits += hits(
                        exact(rows, query, 10, metric, id -> true),
                        table.search(query, 10, 200).join());
            }
            assertThat(hits).isGreaterThan(290);
        }
    }

    @Test
    void rowsThatAreTheSameAreAllFoundByTheirIds() {
        float[][] rows = gaussian(600, 20, new Random(93));
        for (int row = 300; row < 600; row++) {
            rows[row] = rows[row - 300];
        }
        try (HnswTable table = coded().build(ORCHESTRATOR, rows)) {
            SearchResult found = table.search(rows[7], 2, 100).join();
            assertThat(found.ids()).containsExactly(7, 307);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 10, 40})
    void aFilterKeepsOutAllOthers(int oneIn) {
        Random random = new Random(94);
        float[][] rows = gaussian(3_000, 32, random);
        try (HnswTable table = coded().build(ORCHESTRATOR, rows)) {
            IdFilter filter = IdFilter.of(id -> id % oneIn == 0);
            int hits = 0;
            for (float[] query : gaussian(40, 32, random)) {
                SearchResult found = ORCHESTRATOR
                        .submit(table.searchFunction(10, 60, filter), query, table.mappingId())
                        .join();
                assertThat(Arrays.stream(found.ids())).allMatch(id -> id % oneIn == 0);
                hits += hits(exact(rows, query, 10, Metric.SQUARED_L2, id -> id % oneIn == 0), found);
            }
            assertThat(hits).isGreaterThan(360);
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void anOpenedTableAnswersAsTheSavedOne(Metric metric, @TempDir Path folder) throws IOException {
        Path file = folder.resolve("table");
        try (HnswTable saved = coded().m(20).metric(metric).build(ORCHESTRATOR, gaussian(1_500, 37, new Random(95)))) {
            saved.save(file);
            try (HnswTable opened = HnswTable.open(ORCHESTRATOR, "opened", file)) {
                assertThat(opened.layout()).isEqualTo(GraphLayout.NEIGHBOR_CODES);
                assertThat(opened.bytes()).isEqualTo(saved.bytes());
                for (float[] query : gaussian(50, 37, new Random(96))) {
                    assertThat(opened.search(query, 10, 30).join())
                            .isEqualTo(saved.search(query, 10, 30).join());
                }
            }
        }
    }

    @Test
    void aFileWhoseFactorsAreNoNumbersOrWhoseVersionIsAnothersIsRefused(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("table");
        try (HnswTable table = coded().build(ORCHESTRATOR, gaussian(200, 16, new Random(97)))) {
            table.save(file);
        }
        byte[] good = Files.readAllBytes(file);
        // The first node's vector takes a cache line, the codes of its neighbors take another.
        refused(file, good, 4_096 + 64 + 64, Float.floatToIntBits(Float.NaN), "factor of a node of NaN");
        refused(file, good, VERSION_AT, 2, "version");
        refused(file, good, 20, 40, "degree");
    }

    private static void refused(Path file, byte[] good, int at, int value, String message) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(at, value);
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.slice(0, good.length - Long.BYTES));
        bytes.putLong(good.length - Long.BYTES, checksum.getValue());
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> HnswTable.open(ORCHESTRATOR, "refused", file))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining(message);
    }

    @Test
    void theTrafficOfASearchIsTheRecordsItGoesTo() throws Exception {
        Random random = new Random(98);
        float[][] rows = gaussian(3_000, 128, random);
        float[] query = gaussian(1, 128, random)[0];
        try (HnswTable table = coded().build(ORCHESTRATOR, rows)) {
            AtomicLong nodes = new AtomicLong();
            AtomicLong bytes = new AtomicLong();
            table.searchFunction(10, 100).search(query, SearchContext.outside((count, size) -> {
                nodes.addAndGet(count);
                bytes.addAndGet(size);
            }));
            int visits = table.visits(query, 10, 100).length;
            assertThat(nodes.get()).isBetween((long) visits, visits + 200L);
            assertThat(bytes.get()).isEqualTo(nodes.get() * (table.bytes() / 3_000));
        }
    }

    @Test
    void aTableIsItsVectorsTwiceAndTheListsWithTheirFactors() {
        try (HnswTable table = coded().build(ORCHESTRATOR, gaussian(3_000, 128, new Random(99)))) {
            assertThat((double) table.bytes() / (3_000 * (128 * 8 + 32 * 12))).isBetween(1.0, 1.1);
        }
    }

    @Test
    void anElementTypeSetAfterwardsTakesTheLayoutBack() {
        try (HnswTable table = coded().elementType(ElementType.INT8).build(ORCHESTRATOR, new float[][] {{1}, {2}})) {
            assertThat(table.layout()).isEqualTo(GraphLayout.INT8);
        }
    }

    @Test
    void aTableLargerThanItsLimitIsRefusedBeforeItsBuildBegins() {
        float[][] rows = gaussian(500, 32, new Random(100));
        long[] ids = LongStream.range(0, rows.length).toArray();
        long bytes;
        try (HnswTable table = coded().build(ORCHESTRATOR, rows)) {
            bytes = table.bytes();
        }
        HnswTable.Builder limited = coded().memoryLimit(bytes * 9 / 10);
        assertThatThrownBy(() -> limited.start(ORCHESTRATOR, ids, VectorSource.of(rows)))
                .isInstanceOf(TableFullException.class);
        assertThatThrownBy(() -> limited.build(ORCHESTRATOR, ids, rows)).isInstanceOf(TableFullException.class);
        try (HnswTable table = coded().memoryLimit(bytes * 11 / 10).build(ORCHESTRATOR, ids, rows)) {
            assertThat(table.size()).isEqualTo(rows.length);
        }
    }
}
