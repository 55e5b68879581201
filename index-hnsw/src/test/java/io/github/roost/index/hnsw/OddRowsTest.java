package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.distance;
import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables of 8-bit codes whose rows or queries have odd values, against tables of floats. */
class OddRowsTest {
    /** One worker, which builds the same graph of the same rows each time. */
    private static final Orchestrator ORCHESTRATOR = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
            .build();

    private static final int DIMENSION = 24;
    private static final int ODD = 77;

    private final float[][] rows;
    private final float[][] queries;

    OddRowsTest() {
        Random random = new Random(2);
        rows = gaussian(2_000, DIMENSION, random);
        queries = gaussian(30, DIMENSION, random);
    }

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    private HnswTable table(Metric metric, ElementType type) {
        return HnswTable.builder()
                .metric(metric)
                .m(8)
                .efConstruction(60)
                .elementType(type)
                .build(ORCHESTRATOR, rows);
    }

    private double recall(VectorTable table) {
        int hits = 0;
        for (float[] query : queries) {
            SearchResult truth = exact(rows, query, 10, table.metric());
            SearchResult found =
                    table.search(SearchRequest.of(query, 10).effort(80)).join();
            for (long id : found.ids()) {
                // Floats do not tell all rows apart if a query is far away.
                float distance = distance(rows[(int) id], query, table.metric());
                hits += distance <= truth.distances()[9] ? 1 : 0;
            }
        }
        return hits / (10.0 * queries.length);
    }

    private void assertAsGoodAsFloats(Metric metric, GraphLayout expected) {
        try (HnswTable floats = table(metric, ElementType.FLOAT32);
                HnswTable codes = table(metric, ElementType.INT8)) {
            assertThat(codes.layoutChoice().layout()).isEqualTo(codes.layout()).isEqualTo(expected);
            assertThat(recall(codes)).isGreaterThanOrEqualTo(recall(floats) - .01);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SQUARED_L2, 10",
        "SQUARED_L2, 1e3",
        "SQUARED_L2, 1e4",
        "SQUARED_L2, 1e9",
        "SQUARED_L2, 1e15",
        "SQUARED_L2, 1e25",
        "SQUARED_L2, 1e32",
        "SQUARED_L2, 3.4028235e38",
        "INNER_PRODUCT, 1e4",
        "COSINE, 1e4"
    })
    void oneRowOfOtherSizeCostsTheOthersNothing(Metric metric, float size) {
        rows[ODD][3] = size;
        assertAsGoodAsFloats(metric, GraphLayout.INT8);
        Arrays.fill(rows[ODD], size);
        assertAsGoodAsFloats(metric, GraphLayout.INT8);
    }

    @ParameterizedTest
    @CsvSource({"1e25, FLOAT32", "1e32, INT8", "3.4028235e38, FLOAT32", "3.4028235e38, INT8"})
    void aFewRowsOfVeryOtherSizeAreFoundToo(float size, ElementType type, @TempDir Path folder) throws IOException {
        rows[ODD][3] = size;
        Arrays.fill(rows[ODD + 1], -size);
        try (HnswTable table = table(Metric.SQUARED_L2, type);
                LiveTable live = LiveTable.builder()
                        .elementType(type)
                        .build(ORCHESTRATOR, LongStream.range(0, rows.length).toArray(), rows)) {
            live.put(ODD + 1, rows[ODD + 1]);
            live.merge();
            table.save(folder.resolve("table"));
            live.save(folder.resolve("live"));
            for (VectorTable each : List.of(
                    table,
                    live,
                    HnswTable.open(ORCHESTRATOR, "opened", folder.resolve("table")),
                    LiveTable.open(ORCHESTRATOR, "live", folder.resolve("live")))) {
                assertThat(recall(each)).isGreaterThan(.97);
                for (int odd : new int[] {ODD, ODD + 1}) {
                    assertThat(each.search(rows[odd], 1, 80).join().ids()).containsExactly(odd);
                    SearchRequest filtered =
                            SearchRequest.of(rows[odd], 1).filter(IdFilter.of(id -> id % 2 == odd % 2));
                    assertThat(each.search(filtered).join().ids()).containsExactly(odd);
                }
                assertThat(each.search(queries[0], rows.length, rows.length)
                                .join()
                                .ids())
                        .hasSize(rows.length)
                        .endsWith(ODD, ODD + 1);
            }
            assertThat(live.vector(ODD)).contains(rows[ODD]);
        }
    }

    /** Clusters in several directions, near which the queries are too. */
    @ParameterizedTest
    @CsvSource({"0, FLOAT32", "0, INT8", "1, FLOAT32", "1, INT8"})
    void largeProductsAreFoundInEachClusterHoweverLargeItsRowsAre(double spreadOfLengths, ElementType type) {
        Random random = new Random(3);
        float[][] centers = gaussian(15, DIMENSION, random);
        for (float[] center : centers) {
            Fixtures.scaled(new float[][] {center}, (float) (5 * Math.exp(spreadOfLengths * random.nextGaussian())));
        }
        for (float[][] some : List.of(rows, queries)) {
            for (float[] row : some) {
                float[] center = centers[random.nextInt(centers.length)];
                for (int i = 0; i < row.length; i++) {
                    row[i] += center[i];
                }
            }
        }
        try (HnswTable table = table(Metric.INNER_PRODUCT, type)) {
            assertThat(recall(table)).isGreaterThan(.9);
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {1e-22f, 1e-10f, 1e15f})
    void theUnitCostsNothing(float unit) {
        Fixtures.scaled(rows, unit);
        Fixtures.scaled(queries, unit);
        assertAsGoodAsFloats(Metric.SQUARED_L2, GraphLayout.INT8);
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void rowsWideInOneComponentCostTheOthersNothing(Metric metric) {
        for (int row = 0; row < rows.length; row += 50) {
            rows[row][3] *= 100;
        }
        assertAsGoodAsFloats(metric, GraphLayout.INT8);
    }

    @ParameterizedTest
    @CsvSource({"SQUARED_L2, INT8", "INNER_PRODUCT, INT8", "COSINE, FLOAT32"})
    void rowsFarFromTheOriginAreToldApart(Metric metric, GraphLayout expected) {
        for (float[][] some : new float[][][] {rows, queries}) {
            for (float[] row : some) {
                for (int d = 0; d < DIMENSION; d += 3) {
                    row[d] += 1_000;
                }
            }
        }
        assertAsGoodAsFloats(metric, expected);
    }

    @ParameterizedTest
    @CsvSource({"SQUARED_L2, 1e3", "SQUARED_L2, 1e6", "SQUARED_L2, 3e38", "INNER_PRODUCT, 1e6", "COSINE, 1e3"})
    void aQueryWithAnOddComponentFindsWhatItFindsAmongFloats(Metric metric, float size) {
        for (float[] query : queries) {
            query[5] = size;
        }
        assertAsGoodAsFloats(metric, GraphLayout.INT8);
    }

    @ParameterizedTest
    @EnumSource(value = Metric.class, names = "INNER_PRODUCT", mode = EnumSource.Mode.EXCLUDE)
    void codesThatCannotTellRowsOfARegionApartAreNotTaken(Metric metric) {
        for (int row = 0; row < rows.length; row += 2) {
            for (int d = 0; d < DIMENSION; d++) {
                rows[row][d] += 500;
            }
        }
        assertAsGoodAsFloats(metric, GraphLayout.FLOAT32);
        try (HnswTable table = table(metric, ElementType.INT8)) {
            assertThat(table.stats().elementType()).isEqualTo(ElementType.FLOAT32);
            assertThat(table.layoutChoice().reason())
                    .matches("8-bit codes find 0\\.\\d+ of the neighbors in a sample, less than 0\\.95");
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void rowsOutsideTheRangeOfThePartsBeforeAreFound(Metric metric) {
        for (int row = 1_990; row < 2_000; row++) {
            rows[row][row % DIMENSION] *= 100;
        }
        try (LiveTable table = LiveTable.builder()
                .metric(metric)
                .elementType(ElementType.INT8)
                .efConstruction(100)
                .build(ORCHESTRATOR, LongStream.range(0, 1_000).toArray(), Arrays.copyOf(rows, 1_000))) {
            for (int row = 1_000; row < rows.length; row++) {
                table.put(row, rows[row]);
            }
            for (int merges = 0; merges < 2; merges++) {
                assertThat(table.elementType()).isEqualTo(ElementType.INT8);
                assertThat(recall(table)).isGreaterThan(.97);
                // By inner product a row need not be its own nearest.
                for (int row = 1_900; metric != Metric.INNER_PRODUCT && row < 2_000; row++) {
                    assertThat(table.search(rows[row], 1, 80).join().ids()).containsExactly(row);
                }
                table.merge();
            }
        }
    }

    @Test
    void aMergeMeasuresTheCodesOfItsRows() {
        try (LiveTable table = LiveTable.builder()
                .elementType(ElementType.INT8)
                .m(8)
                .efConstruction(60)
                .build(ORCHESTRATOR, DIMENSION)) {
            for (int row = 0; row < 1_000; row++) {
                table.put(row, rows[row]);
            }
            table.merge();
            assertThat(table.stats().elementType()).isEqualTo(ElementType.INT8);
            for (int row = 1_000; row < 2_000; row++) {
                for (int d = 0; d < DIMENSION; d++) {
                    rows[row][d] += 500;
                }
                table.put(row, rows[row]);
            }
            table.merge();
            assertThat(table.stats().elementType()).isEqualTo(ElementType.FLOAT32);
            assertThat(recall(table)).isGreaterThan(.97);
        }
    }

    /** All true distances are floats. */
    @ParameterizedTest
    @CsvSource({"1e-6, 1e13, 1", "1e-6, 1e13, 800", "1e-6, 1e13, 1200", "1e-3, 1e15, 800", "1e-4, 1e8, 800"})
    void rowsOfTwoSizesAreFoundByQueriesOfBoth(float usual, float large, int many) {
        scale(rows, 0, usual, many, rows.length);
        scale(rows, 9, large, 0, many);
        scale(queries, 0, usual, 15, queries.length);
        scale(queries, 9, large, 0, 15);
        if (many == 1) {
            for (int query = 0; query < 15; query++) {
                queries[query] = rows[0].clone();
                queries[query][0] *= 1.001f;
            }
        }
        try (HnswTable table = table(Metric.SQUARED_L2, ElementType.FLOAT32)) {
            assertThat(recall(table)).isGreaterThan(.97);
            for (float[] query : queries) {
                SearchResult nearest = table.search(SearchRequest.of(query, 1)).join();
                assertThat(nearest.distances()[0]).isLessThan(Float.POSITIVE_INFINITY);
            }
        }
    }

    private static void scale(float[][] vectors, float offset, float size, int from, int to) {
        for (int vector = from; vector < to; vector++) {
            for (int i = 0; i < DIMENSION; i++) {
                vectors[vector][i] = (vectors[vector][i] + offset) * size;
            }
        }
    }
}
