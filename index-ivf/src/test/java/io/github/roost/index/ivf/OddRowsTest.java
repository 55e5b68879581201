package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.data.Percentage.withPercentage;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.kernel.PlainScan;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows and queries that are unlike the others cost the others nothing. All lists are probed, so floats have a recall of 1. */
class OddRowsTest {
    private static final int ROWS = 1_500;
    private static final int DIMENSION = 24;
    private static final int LISTS = 20;
    private static final int K = 10;
    private static final Orchestrator ORCHESTRATOR = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .build();

    /** Rows and queries of one kind: ordinary ones, changed. */
    private record Case(String name, Metric metric, Consumer<float[][]> rows, Consumer<float[][]> queries) {
        @Override
        public String toString() {
            return name + ", " + metric;
        }
    }

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    static Stream<Case> cases() {
        return Arrays.stream(Metric.values()).flatMap(metric -> {
            Consumer<float[][]> same = rows -> {};
            Stream<Case> odd = Stream.of(10f, 100f, 1e3f, 1e4f, 1e9f)
                    .flatMap(factor -> Stream.of(
                            new Case("a component of " + factor, metric, rows -> rows[77][3] = factor, same),
                            new Case("a row of " + factor, metric, rows -> scale(rows[77], factor), same)));
            Stream<Case> all = Stream.of(1e-22f, 1e-15f, 1e15f)
                    .map(factor -> new Case("all times " + factor, metric, scaled(factor), scaled(factor)));
            Stream<Case> others = Stream.of(
                    new Case("two regions", metric, OddRowsTest::apart, OddRowsTest::apart),
                    new Case("an offset", metric, shifted(1_000), shifted(1_000)),
                    new Case("a wide dimension", metric, widened(1_000), widened(1_000)),
                    new Case("an odd query", metric, same, queries -> setAll(queries, 100)),
                    new Case(
                            "a query off a constant",
                            metric,
                            rows -> setAll(rows, 7),
                            queries -> setAll(queries, 107)));
            return Stream.of(odd, all, others).flatMap(each -> each);
        });
    }

    private static void scale(float[] row, float factor) {
        for (int d = 0; d < row.length; d++) {
            row[d] *= factor;
        }
    }

    private static Consumer<float[][]> scaled(float factor) {
        return rows -> Arrays.stream(rows).forEach(row -> scale(row, factor));
    }

    private static Consumer<float[][]> shifted(float by) {
        return rows -> {
            for (float[] row : rows) {
                for (int d = 0; d < row.length; d++) {
                    row[d] += by;
                }
            }
        };
    }

    private static void apart(float[][] rows) {
        shifted(500).accept(Arrays.copyOf(rows, rows.length / 2));
    }

    private static Consumer<float[][]> widened(float factor) {
        return rows -> Arrays.stream(rows).forEach(row -> row[5] *= factor);
    }

    private static void setAll(float[][] rows, float value) {
        for (float[] row : rows) {
            row[5] = value;
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void codesFindWhatFloatsFind(Case odd) {
        Random random = new Random(2);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        float[][] queries = gaussian(30, DIMENSION, random);
        odd.rows.accept(rows);
        odd.queries.accept(queries);
        try (IvfTable floats = build(IvfTable.builder().codes(false), odd.metric, rows);
                IvfTable coded = build(IvfTable.builder(), odd.metric, rows);
                IvfTable bytes = build(IvfTable.builder().elementType(ElementType.INT8), odd.metric, rows)) {
            int hits = 0;
            for (float[] query : queries) {
                SearchResult right = floats.search(query, K, LISTS).join();
                assertThat(coded.search(query, K, LISTS).join()).isEqualTo(right);
                hits += hits(bytes.search(query, K, LISTS).join(), right);
            }
            assertThat(hits).isGreaterThanOrEqualTo((int) (.99 * K * queries.length));
        }
    }

    private static IvfTable build(IvfTable.Builder builder, Metric metric, float[][] rows) {
        return builder.metric(metric).nlist(LISTS).nprobe(LISTS).build(ORCHESTRATOR, rows);
    }

    /** A row as near as the last right one is a hit. */
    private static int hits(SearchResult found, SearchResult right) {
        float reach = right.distances()[K - 1];
        return (int) IntStream.range(0, found.size())
                .filter(i -> found.distances()[i] <= reach)
                .count();
    }

    /** Unlike all that the lists were made of. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rowsOfANewRegionAreFoundByTheirOwnVectors(boolean rebuilt) {
        Random random = new Random(3);
        float[][] later = gaussian(300, DIMENSION, random);
        shifted(3).accept(later);
        long[] ids = LongStream.range(ROWS, ROWS + later.length).toArray();
        for (Metric metric : List.of(Metric.SQUARED_L2, Metric.COSINE)) {
            for (IvfTable.Builder builder :
                    List.of(IvfTable.builder(), IvfTable.builder().elementType(ElementType.INT8))) {
                try (IvfTable table = build(builder, metric, gaussian(ROWS, DIMENSION, random))) {
                    for (int i = 0; i < later.length; i += 10) {
                        table.add(Arrays.copyOfRange(ids, i, i + 10), Arrays.copyOfRange(later, i, i + 10));
                    }
                    if (rebuilt) {
                        table.rebuild().result().join();
                    }
                    for (int i = 0; i < later.length; i++) {
                        assertThat(table.search(later[i], 1, LISTS).join().ids())
                                .containsExactly(ids[i]);
                    }
                }
            }
        }
    }

    @Test
    void rowsThatCodesCannotTellApartAreScannedAsFloats() {
        Random random = new Random(4);
        float[][] centers = gaussian(30, DIMENSION, random);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        for (int i = 0; i < rows.length; i++) {
            for (int d = 0; d < DIMENSION; d++) {
                rows[i][d] = centers[i % centers.length][d] + 1e-4f * rows[i][d];
            }
        }
        try (IvfTable table = IvfTable.builder()
                .elementType(ElementType.INT8)
                .nlist(5)
                .nprobe(5)
                .build(ORCHESTRATOR, rows)) {
            assertThat(table.stats().elementType()).isEqualTo(ElementType.FLOAT32);
            long[] ids = LongStream.range(0, ROWS).toArray();
            for (int i = 0; i < 20; i++) {
                assertThat(table.search(rows[i], K).join())
                        .isEqualTo(PlainScan.nearest(Metric.SQUARED_L2, rows, ids, rows[i], K));
            }
        }
    }

    /** Squares of such values leave the range of float. */
    @ParameterizedTest
    @ValueSource(floats = {1e-22f, 1e-30f, 1e15f, 1e25f})
    void distancesAndVectorsAreOfTheValuesThatWerePassed(float factor) {
        float[][] rows = gaussian(300, DIMENSION, new Random(5));
        scaled(factor).accept(rows);
        for (Metric metric : List.of(Metric.SQUARED_L2, Metric.INNER_PRODUCT)) {
            try (IvfTable table = build(IvfTable.builder(), metric, rows)) {
                SearchResult found = table.search(rows[5], K, LISTS).join();
                assertThat(table.vector(5)).containsExactly(rows[5]);
                float[] later = rows[6].clone();
                later[0] *= 1.5f;
                table.put(900, later);
                assertThat(table.vector(900)).containsExactly(later);
                for (int i = 0; i < found.size(); i++) {
                    double exact = distance(metric, rows[5], rows[(int) found.ids()[i]]);
                    double rounded = Math.abs(exact) > Float.MAX_VALUE ? Math.copySign(1 / 0., exact) : exact;
                    assertThat((double) found.distances()[i])
                            .satisfiesAnyOf(
                                    distance -> assertThat(distance).isEqualTo(rounded),
                                    distance -> assertThat(Math.abs(distance - rounded))
                                            .isLessThanOrEqualTo(1e-5 * Math.abs(rounded) + Float.MIN_VALUE));
                }
            }
        }
    }

    /** Sizes of most rows and of the others, and every which row is one of the others. */
    @ParameterizedTest
    @CsvSource({"1e-22, 1e15, 1500", "1e-22, 1e15, 3", "1e-6, 1e13, 2", "1e-30, 1e9, 1500", "1e15, 1e-22, 1500"})
    void rowsOfVeryOtherSizesAreKeptAndAreAtTheirTrueDistances(float usual, float odd, int every) {
        Random random = new Random(6);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        for (int i = 0; i < ROWS; i++) {
            scale(rows[i], i % every == every / 2 ? odd : usual);
        }
        float[] oddRow = rows[every / 2];
        float[] query = oddRow.clone();
        query[3] *= 1.01f;
        double[] distances = Arrays.stream(rows)
                .mapToDouble(row -> distance(Metric.SQUARED_L2, query, row))
                .sorted()
                .toArray();
        for (Kept kept : List.of(Kept.FLOATS, Kept.CODED_FLOATS, Kept.BOTH)) {
            try (IvfTable table = build(kept.builder(), Metric.SQUARED_L2, rows)) {
                for (int i = 0; i < ROWS; i++) {
                    assertThat(table.vector(i)).containsExactly(rows[i]);
                }
                table.put(ROWS, oddRow);
                assertThat(table.vector(ROWS)).containsExactly(oddRow);
                table.remove(ROWS);
                SearchResult found = table.search(query, K, LISTS).join();
                for (int i = 0; i < K; i++) {
                    assertThat((double) found.distances()[i])
                            .isCloseTo(distances[i], within(1e-4 * distances[i] + Float.MIN_NORMAL));
                }
            }
        }
    }

    @Test
    void aQueryFarLargerThanTinyRowsIsAtItsOwnSquaredLengthFromThem() {
        float[][] rows = gaussian(300, DIMENSION, new Random(7));
        scaled(1e-30f).accept(rows);
        float[] query = new float[DIMENSION];
        query[2] = 1e9f;
        try (IvfTable table = build(IvfTable.builder(), Metric.SQUARED_L2, rows)) {
            SearchResult found = table.search(query, K, LISTS).join();
            assertThat(found.size()).isEqualTo(K);
            assertThat(found.distances()).containsOnly(1e18f);
            assertThat(countWithin(table, query, 2e18f)).isEqualTo(K);
            assertThat(countWithin(table, query, .5e18f)).isZero();
        }
    }

    private static int countWithin(IvfTable table, float[] query, float radius) {
        return table.search(SearchRequest.of(query, K).radius(radius)).join().size();
    }

    @Test
    void aLaterRowTooLargeToBeStoredIsRefused() {
        float[][] rows = gaussian(300, DIMENSION, new Random(8));
        scaled(1e-30f).accept(rows);
        float[] larger = rows[0].clone();
        larger[4] = 1e9f;
        try (IvfTable table = build(IvfTable.builder(), Metric.SQUARED_L2, rows)) {
            assertThatThrownBy(() -> table.put(7, larger))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("vector 0 must be within ")
                    .hasMessageEndingWith(" of 0 in lists built from far smaller rows, got 1.0E9 in dimension 4");
            assertThat(table.vector(7)).containsExactly(rows[7]);
        }
    }

    @Test
    void aFloat16RowFarLargerThanMostIsStoredAndSaved(@TempDir Path folder) throws IOException {
        float[][] rows = gaussian(ROWS, DIMENSION, new Random(9));
        scaled(1e-3f).accept(rows);
        rows[77][0] = 1_000;
        rows[77][1] = -1_000;
        float[] tooLarge = rows[77].clone();
        tooLarge[0] = 60_000;
        try (IvfTable table = build(Kept.HALVES.builder(), Metric.SQUARED_L2, rows)) {
            assertThat(table.vector(77)).startsWith(1_000, -1_000);
            table.put(ROWS, rows[77]);
            assertThat(table.vector(ROWS)).startsWith(1_000, -1_000);
            assertThatThrownBy(() -> table.put(7, tooLarge))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("vector 0 must be within 2047.0 of 0 in FLOAT16 lists built from far smaller rows,"
                            + " got 60000.0 in dimension 0");
            table.save(folder.resolve("table"));
        }
        try (IvfTable opened = IvfTable.open(ORCHESTRATOR, "opened", folder.resolve("table"))) {
            opened.verify();
            assertThat(opened.search(rows[77], 2, LISTS).join().ids()).containsExactly(77, ROWS);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1e30", "1e9, 1e30", "1e15, 1e22", "2e37, 1", "1e-22, 1e15"})
    void noProductIsLeftOut(float ofRows, float ofQuery) {
        Random random = new Random(10);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        scaled(ofRows).accept(rows);
        float[] query = gaussian(1, DIMENSION, random)[0];
        scale(query, ofQuery);
        double least = Arrays.stream(rows)
                .mapToDouble(row -> distance(Metric.INNER_PRODUCT, query, row))
                .min()
                .orElseThrow();
        for (Kept kept : Kept.values()) {
            if (kept == Kept.HALVES && ofRows > 65_504) {
                continue;
            }
            try (IvfTable table = build(kept.builder(), Metric.INNER_PRODUCT, rows)) {
                SearchResult found = table.search(query, ROWS, LISTS).join();
                assertThat(found.size()).isEqualTo(ROWS);
                if (least > -Float.MAX_VALUE) {
                    assertThat((double) found.distances()[0]).isCloseTo(least, withPercentage(5));
                }
            }
        }
    }

    private static double distance(Metric metric, float[] a, float[] b) {
        double sum = 0;
        for (int d = 0; d < a.length; d++) {
            double difference = (double) a[d] - b[d];
            sum += metric == Metric.INNER_PRODUCT ? -(double) a[d] * b[d] : difference * difference;
        }
        return sum;
    }
}
