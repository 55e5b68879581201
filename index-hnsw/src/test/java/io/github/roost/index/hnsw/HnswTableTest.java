package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.distance;
import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HnswTableTest {
    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(twoDomains()).build();

    private static Topology twoDomains() {
        return new Topology(
                "test",
                DomainLevel.L3,
                false,
                List.of(
                        new CacheDomain(0, 0, List.of(0), 0, List.of(new Core(0, -1, List.of(0)))),
                        new CacheDomain(1, 0, List.of(0), 0, List.of(new Core(1, -1, List.of(1))))));
    }

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    @ParameterizedTest
    @CsvSource({"1", "2", "3", "17", "64", "128", "300"})
    void findsNearlyAllTrueNeighborsInEveryDimension(int dimension) {
        Random random = new Random(dimension);
        float[][] rows = gaussian(1_000, dimension, random);
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, rows)) {
            assertThat(recall(table, rows, gaussian(50, dimension, random), 10, 200, Metric.SQUARED_L2))
                    .isGreaterThan(.95);
        }
    }

    @Test
    void aSearchThatIsNoLongerWantedEndsWhereItIs() throws Exception {
        Random random = new Random(12);
        float[] query = gaussian(1, 32, random)[0];
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, gaussian(5_000, 32, random))) {
            // ef of a search, and of a scan of all.
            for (int ef : new int[] {1_000, 100_000}) {
                SearchFunction<float[], SearchResult> search = table.searchFunction(1_000, ef);
                Fixtures.EndsAfter never = new Fixtures.EndsAfter(Integer.MAX_VALUE);
                SearchResult expected = search.search(query, never);
                int requested = Integer.MAX_VALUE - never.asksLeft().get();
                assertThat(requested).isGreaterThan(10);
                for (int asks = 0; asks < requested; asks++) {
                    Fixtures.EndsAfter context = new Fixtures.EndsAfter(asks);
                    assertThatThrownBy(() -> search.search(query, context))
                            .isInstanceOf(DeadlineExceededException.class)
                            .hasMessage("the deadline passed while the search ran");
                    assertThat(context.asksLeft()).hasValue(-1);
                }
                assertThat(search.search(query, never)).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 100, 1_000})
    void visitsAreTheNodesThatASearchComputesDistancesTo(int ef) throws Exception {
        Random random = new Random(ef);
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, gaussian(3_000, 16, random))) {
            float[] query = gaussian(1, 16, random)[0];
            int[] visits = table.visits(query, 10, ef);
            AtomicLong touched = new AtomicLong();
            table.searchFunction(10, ef)
                    .search(query, SearchContext.outside((nodes, bytes) -> touched.addAndGet(nodes)));
            // The way down through the upper layers is in the one and not in the other.
            assertThat(touched.get()).isBetween((long) visits.length, visits.length + 200L);
            assertThat(visits).doesNotHaveDuplicates();
            assertThat(Arrays.stream(visits)).allMatch(node -> node >= 0 && node < 3_000);
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void findsNearlyAllTrueNeighborsUnderEveryMetric(Metric metric) {
        Random random = new Random(5);
        float[][] rows = gaussian(1_000, 24, random);
        try (HnswTable table = HnswTable.builder().metric(metric).build(ORCHESTRATOR, rows)) {
            assertThat(recall(table, rows, gaussian(50, 24, random), 10, 200, metric))
                    .isGreaterThan(.95);
        }
    }

    @Test
    void innerProductFindsAsMuchAsDistanceAtOneWidth() {
        Random random = new Random(33);
        float[][] rows = gaussian(4_000, 24, random);
        float[][] queries = gaussian(200, 24, random);
        HnswTable.Builder builder = HnswTable.builder().efConstruction(80);
        try (HnswTable distances = builder.build(ORCHESTRATOR, rows);
                HnswTable products = builder.metric(Metric.INNER_PRODUCT).build(ORCHESTRATOR, rows)) {
            assertThat(recall(products, rows, queries, 10, 60, Metric.INNER_PRODUCT))
                    .isGreaterThan(recall(distances, rows, queries, 10, 60, Metric.SQUARED_L2) - .02);
        }
    }

    /** In clusters all rows have nearly the same norm, and the largest products are in the query's cluster. */
    @Test
    void innerProductFindsTheRowsOfItsCluster() {
        Random random = new Random(35);
        float[][] rows = clusters(80, 50, 256, random);
        float[][] queries =
                Arrays.stream(rows, 0, 200).map(row -> sum(row, .15f, random)).toArray(float[][]::new);
        try (HnswTable table = HnswTable.builder().metric(Metric.INNER_PRODUCT).build(ORCHESTRATOR, rows)) {
            assertThat(recall(table, rows, queries, 10, 20, Metric.INNER_PRODUCT))
                    .isGreaterThan(.9);
        }
    }

    private static float[][] clusters(int count, int size, int dimension, Random random) {
        float[][] rows = new float[count * size][];
        for (int cluster = 0; cluster < count; cluster++) {
            float[] center = new float[dimension];
            for (int i = 0; i < dimension; i++) {
                center[i] = random.nextFloat();
            }
            for (int row = cluster; row < rows.length; row += count) {
                rows[row] = sum(center, .15f, random);
            }
        }
        return rows;
    }

    /** A vector with Gaussian noise. */
    private static float[] sum(float[] vector, float noise, Random random) {
        float[] sum = vector.clone();
        for (int i = 0; i < sum.length; i++) {
            sum[i] += noise * (float) random.nextGaussian();
        }
        return sum;
    }

    /** The largest products belong to few rows of large norm, which are far from all other rows. */
    @Test
    void innerProductFindsRowsOfLargeNorm() {
        Random random = new Random(36);
        float[][] rows = gaussian(4_000, 64, random);
        for (float[] row : rows) {
            float factor = (float) Math.exp(.5 * random.nextGaussian());
            for (int i = 0; i < row.length; i++) {
                row[i] *= factor;
            }
        }
        try (HnswTable table = HnswTable.builder().metric(Metric.INNER_PRODUCT).build(ORCHESTRATOR, rows)) {
            assertThat(recall(table, rows, gaussian(200, 64, random), 10, 80, Metric.INNER_PRODUCT))
                    .isGreaterThan(.98);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SQUARED_L2, 1e-12",
        "SQUARED_L2, 1e-5",
        "SQUARED_L2, 1e12",
        "INNER_PRODUCT, 1e-5",
        "INNER_PRODUCT, 1e12",
        "COSINE, 1e-25",
        "COSINE, 1e-12",
        "COSINE, 1e12",
        "COSINE, 1e25"
    })
    void theUnitOfTheDataMakesNoDifference(Metric metric, float unit) {
        Random random = new Random(21);
        float[][] rows = inUnits(unit, gaussian(1_000, 24, random));
        float[][] queries = inUnits(unit, gaussian(50, 24, random));
        try (HnswTable table = HnswTable.builder().metric(metric).build(ORCHESTRATOR, rows)) {
            assertThat(recall(table, rows, queries, 10, 200, metric)).isGreaterThan(.95);
            SearchResult found = table.search(queries[0], 1, 200).join();
            float truth = distance(rows[(int) found.ids()[0]], queries[0], metric);
            assertThat(found.distances()[0]).isCloseTo(truth, withinPercentage(.01));
        }
    }

    @ParameterizedTest
    @CsvSource({"1e-20, 1", "1, 1e15", "1, 1e18", "1e-30, 1e15"})
    void aQueryFarFromAllRowsGetsItsDistance(float rowUnit, float queryUnit) {
        float[][] rows = inUnits(rowUnit, gaussian(500, 8, new Random(22)));
        float[] query = inUnits(queryUnit, gaussian(1, 8, new Random(23)))[0];
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, rows)) {
            SearchResult found = table.search(query, 3, 50).join();
            assertThat(found.size()).isEqualTo(3);
            assertThat(found.distances()[0])
                    .isCloseTo(distance(rows[0], query, Metric.SQUARED_L2), withinPercentage(.01));
        }
    }

    private static float[][] inUnits(float unit, float[][] rows) {
        for (float[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                row[i] *= unit;
            }
        }
        return rows;
    }

    @Test
    void clustersFarApartAreAllReached() {
        Random random = new Random(9);
        float[][] rows = gaussian(3_000, 16, random);
        for (int row = 0; row < rows.length; row++) {
            rows[row][row % 16] += 40 * (row % 30);
        }
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, rows)) {
            float[][] queries = Arrays.copyOf(rows, 100);
            assertThat(recall(table, rows, queries, 10, 200, Metric.SQUARED_L2)).isGreaterThan(.95);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void tinyTablesGiveAllTheyHave(int size) {
        float[][] rows = gaussian(size, 8, new Random(size));
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, rows)) {
            SearchResult found = table.search(rows[0], 10, 10).join();
            SearchResult truth = exact(rows, rows[0], 10, Metric.SQUARED_L2);
            assertThat(found.ids()).isEqualTo(truth.ids());
            assertThat(found.distances()).containsExactly(truth.distances(), within(1e-4f));
        }
    }

    @Test
    void equalVectorsAreAllFoundAndTiesAreById() {
        Random random = new Random(12);
        float[][] rows = gaussian(3_000, 4, random);
        for (int row = 0; row < rows.length; row++) {
            rows[row] = rows[row % 600];
        }
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, rows)) {
            for (int query = 0; query < 50; query++) {
                assertThat(table.search(rows[query], 5, 60).join())
                        .isEqualTo(new SearchResult(
                                new long[] {query, query + 600, query + 1_200, query + 1_800, query + 2_400},
                                new float[5]));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SQUARED_L2", "COSINE"})
    void rowsThatDifferBySignsOfZerosHideNoOthers(Metric metric) {
        Random random = new Random(13);
        float[][] rows = gaussian(1_000, 16, random);
        for (int row = 0; row < rows.length; row++) {
            for (int i = 0; i < 16; i++) {
                rows[row][i] *= row < 200 ? .1f : 0;
            }
            rows[row][0]++;
        }
        try (HnswTable table = HnswTable.builder().metric(metric).build(ORCHESTRATOR, rows)) {
            assertThat(LongStream.range(0, 200)
                            .filter(row ->
                                    table.search(rows[(int) row], 1, 50).join().ids()[0] == row)
                            .count())
                    .isGreaterThan(195);
            assertThat(table.search(rows[500], 800, 800).join().ids())
                    .containsExactly(LongStream.range(200, 1_000).toArray());
        }
    }

    @Test
    void idsAreTheCallers() {
        float[][] rows = {{0, 0}, {1, 0}, {5, 5}};
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, new long[] {70, Long.MAX_VALUE, -3}, rows)) {
            assertThat(table.search(new float[] {4, 4}, 2, 10).join().ids()).containsExactly(-3, Long.MAX_VALUE);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 16", "4, 16", "100, 16", "128, 16", "128, 2", "300, 16", "768, 32"})
    void memoryIsVectorsAndNeighborsAndATenthMore(int dimension, int m) {
        float[][] rows = gaussian(1_000, dimension, new Random(31));
        try (HnswTable table = HnswTable.builder().m(m).efConstruction(40).build(ORCHESTRATOR, rows)) {
            long ids = 8L * rows.length;
            long head = 4_096;
            assertThat(table.bytes())
                    .isLessThanOrEqualTo((long) (1.1 * rows.length * (4L * dimension + 4L * m * 2)) + ids + head);
        }
    }

    /** The target, with nothing left out of account: ids, upper layers and head are in the tenth. */
    @ParameterizedTest
    @CsvSource({"48, 8", "128, 16", "384, 16"})
    void allMemoryIsVectorsAndNeighborsAndATenthMore(int dimension, int m) {
        int rows = 4_000;
        try (HnswTable table = HnswTable.builder()
                .m(m)
                .efConstruction(20)
                .build(ORCHESTRATOR, gaussian(rows, dimension, new Random(32)))) {
            assertThat(table.bytes()).isLessThanOrEqualTo((long) (1.1 * rows * (4L * dimension + 4L * m * 2)));
        }
    }

    @Test
    void nothingOfATableIsOnTheHeap() {
        float[][] warmUp = gaussian(2_000, 256, new Random(33));
        HnswTable.builder().m(8).efConstruction(10).build(ORCHESTRATOR, warmUp).close();
        long before = usedHeap();
        try (HnswTable table = HnswTable.builder()
                .m(8)
                .efConstruction(10)
                .build(ORCHESTRATOR, gaussian(15_000, 256, new Random(34)))) {
            assertThat(table.bytes()).isGreaterThan(15L << 20);
            long grown = usedHeap() - before;
            // A worker may still hold the last piece of the build.
            for (int look = 0; look < 10 && grown > table.bytes() / 20; look++) {
                table.search(warmUp[0], 10, 20).join();
                grown = usedHeap() - before;
            }
            assertThat(grown).isLessThan(table.bytes() / 20);
            assertThat(table.search(warmUp[0], 10, 20).join().size()).isEqualTo(10);
        }
    }

    private static long usedHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void aTieAtTheEndGoesToTheSmallestId() {
        float[][] rows = new float[40][];
        long[] ids = new long[rows.length];
        for (int row = 0; row < rows.length; row++) {
            rows[row] = new float[] {row % 2 == 0 ? 1 + row : -row, 0};
            ids[row] = 1_000L - row;
        }
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, ids, rows)) {
            assertThat(table.search(new float[2], 3, 40).join().ids()).containsExactly(999, 1_000, 997);
        }
    }

    @Test
    void searchesReportWhatTheyTouch() {
        float[][] rows = gaussian(500, 8, new Random(3));
        try (HnswTable table = HnswTable.builder().name("touched").m(8).build(ORCHESTRATOR, rows)) {
            table.search(rows[7], 1, 50).join();
            long bytes = ORCHESTRATOR.stats().tables().stream()
                    .filter(stats -> stats.name().equals("touched"))
                    .findFirst()
                    .orElseThrow()
                    .trafficBytes();
            assertThat(bytes).isPositive().isLessThanOrEqualTo(500L * (8 * 4 + 8 * 4));
            assertThat(bytes % (8 * 4 + 8 * 4)).isZero();
        }
    }

    /** The paper's estimate, N (D s_v + M s_id), with the number of nodes that the search has computed distances to. */
    @ParameterizedTest
    @ValueSource(ints = {10, 40, 200})
    void trafficIsOfExactlyTheNodesVisited(int ef) throws Exception {
        int dimension = 16;
        int m = 6;
        float[][] rows = gaussian(3_000, dimension, new Random(35));
        try (HnswTable table = HnswTable.builder()
                .name("traffic " + ef)
                .m(m)
                .efConstruction(40)
                .build(ORCHESTRATOR, rows)) {
            long expected = 0;
            for (float[] query : gaussian(50, dimension, new Random(36))) {
                long[] touched = new long[2];
                table.searchFunction(10, ef).search(query, SearchContext.outside((nodes, bytes) -> {
                    touched[0] += nodes;
                    touched[1] += bytes;
                }));
                int inLayer0 = table.visits(query, 10, ef).length;
                // Those on the way down are few: the layers above have a sixth of the nodes each.
                assertThat(touched[0]).isBetween((long) inLayer0, inLayer0 + 100L);
                assertThat(touched[1]).isEqualTo(touched[0] * (dimension * 4L + m * 4L));
                table.search(query, 10, ef).join();
                expected += touched[1];
            }
            assertThat(ORCHESTRATOR.stats().tables().stream()
                            .filter(stats -> stats.name().equals("traffic " + ef))
                            .mapToLong(stats -> stats.trafficBytes())
                            .sum())
                    .isEqualTo(expected);
        }
    }

    @Test
    void concurrentSearchesGiveWhatLoneOnesGive() {
        float[][] rows = gaussian(2_000, 32, new Random(4));
        try (HnswTable table = HnswTable.builder().build(ORCHESTRATOR, rows)) {
            List<SearchResult> alone = new ArrayList<>();
            for (int query = 0; query < 200; query++) {
                alone.add(table.search(rows[query], 10, 50).join());
            }
            List<CompletableFuture<SearchResult>> together = new ArrayList<>();
            for (int query = 0; query < 200; query++) {
                together.add(table.search(rows[query], 10, 50));
            }
            assertThat(together.stream().map(CompletableFuture::join)).isEqualTo(alone);
        }
    }

    @Test
    void severalTablesAreMergedNearestFirst() {
        float[][] rows = gaussian(900, 16, new Random(6));
        List<HnswTable> tables = new ArrayList<>();
        for (int third = 0; third < 3; third++) {
            tables.add(HnswTable.builder()
                    .build(
                            ORCHESTRATOR,
                            LongStream.range(300L * third, 300L * third + 300).toArray(),
                            Arrays.copyOfRange(rows, 300 * third, 300 * third + 300)));
        }
        SearchRequest request = SearchRequest.of(rows[450], 10).effort(300);
        SearchResult found = ORCHESTRATOR
                .fanOut(
                        tables.stream().map(table -> table.part(request)).toList(),
                        results -> SearchResult.merge(results, 10))
                .join();
        assertThat(found.ids())
                .isEqualTo(exact(rows, rows[450], 10, Metric.SQUARED_L2).ids());
        assertThat(found.cost().visited()).isGreaterThan(3 * 10);
        tables.forEach(HnswTable::close);
    }

    @Test
    void badInputIsNamed() {
        float[][] rows = gaussian(10, 4, new Random(8));
        HnswTable.Builder builder = HnswTable.builder();
        assertThatThrownBy(() -> builder.build(ORCHESTRATOR, new float[0][])).hasMessageContaining("got none");
        assertThatThrownBy(() -> builder.build(ORCHESTRATOR, new float[][] {{1, 2}, {1}}))
                .hasMessageContaining("vector 1 must have 2 dimensions, got 1");
        assertThatThrownBy(() -> builder.build(ORCHESTRATOR, new float[][] {{1, Float.NaN}}))
                .hasMessageContaining("got NaN");
        assertThatThrownBy(() -> builder.build(ORCHESTRATOR, new long[] {1, 1}, new float[][] {{1}, {2}}))
                .hasMessageContaining("got 1 twice");
        assertThatThrownBy(() -> HnswTable.builder().metric(Metric.COSINE).build(ORCHESTRATOR, new float[][] {{0, 0}}))
                .hasMessageContaining("zero");
        try (HnswTable table = builder.build(ORCHESTRATOR, rows)) {
            assertThatThrownBy(() -> table.search(rows[0], 0, 10)).hasMessageContaining("k must be between 1");
            assertThatThrownBy(() -> table.search(rows[0], 10, 9)).hasMessageContaining("ef must be between 10");
            assertThatThrownBy(() -> table.search(new float[3], 1, 10)).hasMessageContaining("4 dimensions, got 3");
        }
    }

    private static double recall(HnswTable table, float[][] rows, float[][] queries, int k, int ef, Metric metric) {
        int hits = 0;
        for (float[] query : queries) {
            SearchResult truth = exact(rows, query, k, metric);
            SearchResult found = table.search(query, k, ef).join();
            assertThat(found.size()).isEqualTo(k);
            for (int i = 0; i < k; i++) {
                assertThat(found.distances()[i])
                        .isCloseTo(distance(rows[(int) found.ids()[i]], query, metric), tolerance(found, i));
            }
            hits += (int) Arrays.stream(found.ids())
                    .filter(id -> Arrays.stream(truth.ids()).anyMatch(t -> t == id))
                    .count();
        }
        return hits / (double) (k * queries.length);
    }

    private static Offset<Float> tolerance(SearchResult found, int i) {
        return within(1e-2f + 1e-4f * Math.abs(found.distances()[i]));
    }
}
