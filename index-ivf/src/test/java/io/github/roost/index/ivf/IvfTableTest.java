package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.TableClosedException;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class IvfTableTest {
    @SuppressWarnings("NullAway.Init")
    private static Orchestrator orchestrator;

    @BeforeAll
    static void start() {
        orchestrator =
                Orchestrator.builder().topology(TopologyReader.live().read()).build();
    }

    @AfterAll
    static void stop() {
        orchestrator.close();
    }

    @AfterEach
    void preferTheFastestKernel() {
        System.clearProperty(ScanKernels.PROPERTY);
    }

    static List<String> kernels() {
        return ScanKernels.available().stream().map(ScanKernel::name).toList();
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void withAllListsProbedTheAnswerIsExact(String kernel) {
        System.setProperty(ScanKernels.PROPERTY, kernel);
        Random random = new Random(1);
        for (int dimension : new int[] {1, 2, 15, 16, 17, 33, 100, 128, 300}) {
            for (Metric metric : Metric.values()) {
                float[][] rows = gaussian(300, dimension, random);
                try (IvfTable table = IvfTable.builder().metric(metric).nlist(7).build(orchestrator, rows)) {
                    for (float[] query : gaussian(5, dimension, random)) {
                        SearchResult found = table.search(query, 10, 7).join();
                        assertExact(found, metric, rows, query, 10);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void aSearchInOnePieceFindsWhatASearchFinds(ElementType element) throws Exception {
        Random random = new Random(8);
        float[][] rows = gaussian(2_000, 24, random);
        IvfTable table = IvfTable.builder().elementType(element).nlist(20).build(orchestrator, rows);
        SearchFunction<float[], SearchResult> search = table.searchFunction(30, 6);
        LongAdder touched = new LongAdder();
        SearchContext context = SearchContext.outside((nodes, bytes) -> touched.add(nodes));
        for (float[] query : gaussian(20, 24, random)) {
            assertThat(search.search(query, context))
                    .isEqualTo(table.search(query, 30, 6).join());
        }
        assertThat(touched.sum()).isPositive();
        assertThatThrownBy(() -> table.searchFunction(0, 6)).hasMessageContaining("got 0");
        assertThatThrownBy(() -> table.searchFunction(30, 21)).hasMessageContaining("got 21");
        assertThatThrownBy(() -> search.search(new float[] {1}, context)).hasMessageContaining("24");
        table.close();
        assertThatThrownBy(() -> search.search(rows[0], context)).hasMessageContaining("closed");
    }

    @Test
    void everyKernelGivesTheSameNeighbors() {
        float[][] rows = gaussian(500, 37, new Random(2));
        float[][] queries = gaussian(20, 37, new Random(3));
        List<List<SearchResult>> answers = new ArrayList<>();
        for (String kernel : kernels()) {
            System.setProperty(ScanKernels.PROPERTY, kernel);
            try (IvfTable table = IvfTable.builder().nlist(9).build(orchestrator, rows)) {
                answers.add(Arrays.stream(queries)
                        .map(query -> table.search(query, 15, 3).join())
                        .toList());
            }
        }
        assertThat(answers).allMatch(answers.getFirst()::equals);
    }

    @Test
    void equalRowsComeByAscendingId() {
        float[][] rows = new float[100][4];
        long[] ids = IntStream.range(0, 100).mapToLong(i -> 1000 - 10L * i).toArray();
        try (IvfTable table = IvfTable.builder().nlist(5).build(orchestrator, ids, rows)) {
            assertThat(table.search(new float[] {1, 2, 3, 4}, 4, 5).join().ids())
                    .containsExactly(10, 20, 30, 40);
        }
    }

    @Test
    void aKBeyondTheRowsFindsAllOfThem() {
        float[][] rows = gaussian(20, 8, new Random(4));
        try (IvfTable table = IvfTable.builder().nlist(4).build(orchestrator, rows)) {
            assertThat(table.search(rows[0], 10_000, 4).join().ids())
                    .hasSize(20)
                    .doesNotHaveDuplicates();
        }
    }

    /** Clustered rows, few probes: the lists must hold what is near, or recall falls. */
    @Test
    void aFewProbesFindNearlyAllNeighborsOfClusteredRows() {
        Random random = new Random(5);
        float[][] centers = gaussian(40, 24, random);
        float[][] rows = new float[8000][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = near(random, centers[random.nextInt(centers.length)]);
        }
        try (IvfTable table = IvfTable.builder().nlist(64).build(orchestrator, rows)) {
            int hits = 0;
            for (int i = 0; i < 100; i++) {
                float[] query = near(random, centers[random.nextInt(centers.length)]);
                long[] exact = table.search(query, 10, 64).join().ids();
                long[] found = table.search(query, 10, 8).join().ids();
                hits += (int) Arrays.stream(found)
                        .filter(id -> Arrays.stream(exact).anyMatch(other -> other == id))
                        .count();
            }
            assertThat(hits).isGreaterThan(950);
        }
    }

    /** Even, clustered and heavy-tailed rows: the last waste most of a byte's 256 steps on few rows. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void candidatesOfBytesLoseHardlyANeighbor(int distribution) {
        Random random = new Random(16);
        float[][] centers = gaussian(40, 24, random);
        float[][] all = new float[4_100][];
        for (int i = 0; i < all.length; i++) {
            all[i] = near(random, centers[random.nextInt(centers.length)]);
            for (int d = 0; d < 24; d++) {
                double gaussian = random.nextGaussian();
                all[i][d] = switch (distribution) {
                    case 0 -> (float) gaussian;
                    case 1 -> all[i][d];
                    default -> (float) (gaussian * gaussian * gaussian);
                };
            }
        }
        float[][] rows = Arrays.copyOf(all, 4_000);
        try (IvfTable floats = IvfTable.builder().name("floats").nlist(20).build(orchestrator, rows);
                IvfTable bytes = IvfTable.builder()
                        .name("bytes")
                        .nlist(20)
                        .elementType(ElementType.INT8)
                        .build(orchestrator, rows)) {
            int found = 0;
            for (int i = 4_000; i < all.length; i++) {
                long[] exact = floats.search(all[i], 10, 20).join().ids();
                long[] fromBytes = bytes.search(all[i], 10, 20).join().ids();
                found += (int) Arrays.stream(fromBytes)
                        .filter(id -> Arrays.stream(exact).anyMatch(other -> other == id))
                        .count();
            }
            assertThat(found).isGreaterThanOrEqualTo(990);
        }
    }

    /** Many queries at once share scans through the batch queues; each must get its own answer. */
    @Test
    void queriesThatScanTogetherDoNotMix() {
        Random random = new Random(6);
        float[][] rows = gaussian(2000, 20, random);
        float[][] queries = gaussian(200, 20, random);
        try (Orchestrator roomy = Orchestrator.builder()
                        .topology(TopologyReader.live().read())
                        .ringCapacity(1 << 14)
                        .build();
                IvfTable table = IvfTable.builder().nlist(16).build(roomy, rows)) {
            List<SearchResult> alone = new ArrayList<>();
            for (int i = 0; i < queries.length; i++) {
                alone.add(table.search(queries[i], 1 + i % 30, 1 + i % 16).join());
            }
            for (int round = 0; round < 20; round++) {
                List<CompletableFuture<SearchResult>> together = new ArrayList<>();
                try (ExecutorService callers = Executors.newFixedThreadPool(4)) {
                    for (int i = 0; i < queries.length; i++) {
                        together.add(CompletableFuture.completedFuture(i)
                                .thenComposeAsync(
                                        query -> table.search(queries[query], 1 + query % 30, 1 + query % 16),
                                        callers));
                    }
                }
                assertThat(together.stream().map(CompletableFuture::join).toList())
                        .isEqualTo(alone);
            }
        }
    }

    /** One place per ring: most queries are refused, and none of the others is concerned. */
    @Test
    void everyQueryThatIsAcceptedIsAnsweredWhereRingsAreFull() {
        float[][] rows = gaussian(500, 12, new Random(15));
        try (Orchestrator cramped = Orchestrator.builder()
                        .topology(TopologyReader.live().read())
                        .ringCapacity(1)
                        .build();
                IvfTable table = IvfTable.builder().nlist(10).build(cramped, rows)) {
            SearchResult alone = exactly(rows);
            List<CompletableFuture<SearchResult>> answers = new ArrayList<>();
            int refused = 0;
            for (int i = 0; i < 500; i++) {
                try {
                    answers.add(table.search(rows[3], 5, 10));
                } catch (RejectedSearchException full) {
                    refused++;
                }
            }
            assertThat(refused).isPositive();
            for (CompletableFuture<SearchResult> answer : answers) {
                assertThat(answer.orTimeout(30, TimeUnit.SECONDS).join()).isEqualTo(alone);
            }
        }
    }

    private static SearchResult exactly(float[][] rows) {
        try (IvfTable table = IvfTable.builder().nlist(1).build(orchestrator, rows)) {
            return table.search(rows[3], 5, 1).join();
        }
    }

    @Test
    void afterCloseASearchIsRefused() {
        float[][] rows = gaussian(50, 4, new Random(11));
        IvfTable table = IvfTable.builder().nlist(3).build(orchestrator, rows);
        table.close();
        assertThatThrownBy(() -> table.search(rows[0], 1)).isInstanceOf(TableClosedException.class);
    }

    /** The first search waits in one list's queue; the second would wait there, too, but finds no room for the other list. */
    @Test
    void aSearchThatIsRefusedFailsNoneThatWaitsForTheSameList() throws Exception {
        float[][] rows = gaussian(50, 4, new Random(16));
        try (Orchestrator cramped = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 core:1 pu:1").read())
                        .ringCapacity(2)
                        .build();
                IvfTable table = IvfTable.builder().apart().nlist(2).build(cramped, rows)) {
            BusyWorker busy = new BusyWorker(cramped, table);
            CompletableFuture<SearchResult> first = table.search(rows[3], 1, 1);
            var _ = cramped.submit((none, context) -> 0, 0, table.registration().id(0));
            assertThatThrownBy(() -> table.search(rows[3], 50, 2)).isInstanceOf(RejectedSearchException.class);
            CompletableFuture<SearchResult> third = table.search(rows[3], 1, 1);
            assertThat(first).isNotDone();
            busy.close();
            assertThat(first.orTimeout(30, TimeUnit.SECONDS).join().ids()).containsExactly(3);
            assertThat(third.orTimeout(30, TimeUnit.SECONDS).join().ids()).containsExactly(3);
        }
    }

    @Test
    void aDeadlineIsThatOfItsQueryAlone() throws Exception {
        float[][] rows = gaussian(50, 4, new Random(17));
        try (Orchestrator one = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 core:1 pu:1").read())
                        .build();
                IvfTable table = IvfTable.builder().apart().nlist(2).build(one, rows)) {
            BusyWorker busy = new BusyWorker(one, table);
            CompletableFuture<SearchResult> late = table.search(SearchRequest.of(rows[3], 1)
                    .effort(2)
                    .options(SubmitOptions.DEFAULT.withTimeout(Duration.ofNanos(1))));
            CompletableFuture<SearchResult> patient = table.search(rows[3], 1, 2);
            CompletableFuture<SearchResult> given = table.search(rows[3], 1, 2);
            given.cancel(false);
            busy.close();
            assertThatThrownBy(late::join).hasCauseInstanceOf(DeadlineExceededException.class);
            assertThat(patient.join().ids()).containsExactly(3);
            assertThat(given).isCancelled();
        }
    }

    @Test
    void theCallerMayChangeItsQueryAfterTheCall() {
        float[][] rows = gaussian(200, 6, new Random(12));
        try (IvfTable table = IvfTable.builder().nlist(3).build(orchestrator, rows)) {
            float[] query = rows[5].clone();
            CompletableFuture<SearchResult> found = table.search(query, 1, 3);
            Arrays.fill(query, 1e6f);
            assertThat(found.join().ids()).containsExactly(5);
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void badSearchesAreRefusedAndNamed(Metric metric) {
        float[][] rows = gaussian(30, 4, new Random(13));
        try (IvfTable table = IvfTable.builder().metric(metric).nlist(3).build(orchestrator, rows)) {
            refused("k must be between 1 and 10,000, got 0", () -> table.search(rows[0], 0));
            refused("k must be between 1 and 10,000, got 10,001", () -> table.search(rows[0], 10_001));
            refused("effort must be at least 1, got 0", () -> table.search(rows[0], 1, 0));
            refused("nprobe must be between 1 and 3, got 4", () -> table.search(rows[0], 1, 4));
            refused("query must have 4 dimensions, got 3", () -> table.search(new float[3], 1));
            refused(
                    "query must be finite, got NaN in dimension 2",
                    () -> table.search(new float[] {1, 2, Float.NaN, 4}, 1));
            refused(
                    "query must be finite, got -Infinity in dimension 0",
                    () -> table.search(new float[] {Float.NEGATIVE_INFINITY, 2, 3, 4}, 1));
        }
    }

    @Test
    void badRowsAreRefusedAndNamed() {
        float[][] rows = gaussian(5, 4, new Random(14));
        refused("at least one vector, got none", () -> IvfTable.builder().build(orchestrator, new float[0][]));
        refused(
                "nlist must be at most the number of rows, 5, got 6",
                () -> IvfTable.builder().nlist(6).build(orchestrator, rows));
        refused(
                "nlist must be between 1 and 131,072, got 0",
                () -> IvfTable.builder().nlist(0));
        refused(
                "ids must differ, got 7 twice",
                () -> IvfTable.builder().build(orchestrator, new long[] {7, 1, 2, 7, 3}, rows));
        refused("got 2 ids for 5", () -> IvfTable.builder().build(orchestrator, new long[2], rows));
        refused(
                "dimension must be between 1 and 4,096, got 4,097",
                () -> IvfTable.builder().build(orchestrator, new float[1][4097]));
        refused(
                "vector 1 must have 2 dimensions, got 3",
                () -> IvfTable.builder().build(orchestrator, new float[][] {{1, 2}, {1, 2, 3}}));
        refused(
                "vector 0 must be finite, got Infinity in dimension 1",
                () -> IvfTable.builder().build(orchestrator, new float[][] {{1, Float.POSITIVE_INFINITY}}));
        refused(
                "vector 1 must be within 65,504 of 0 in FLOAT16 lists, got -70000.0 in dimension 0",
                () -> IvfTable.builder()
                        .elementType(ElementType.FLOAT16)
                        .build(orchestrator, new float[][] {{1}, {-70_000}}));
        refused(
                "rerank must be between 0 and 100, got -0.5",
                () -> IvfTable.builder().rerank(-.5));
        refused(
                "vector 0 must not be zero",
                () -> IvfTable.builder().metric(Metric.COSINE).build(orchestrator, new float[1][2]));
    }

    private static void refused(String message, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }

    /** Distances must be right in double precision, and no row left out may be nearer than the last. */
    private static void assertExact(SearchResult found, Metric metric, float[][] rows, float[] query, int k) {
        double[] exact = Arrays.stream(rows)
                .mapToDouble(row -> distance(metric, query, row))
                .toArray();
        double[] sorted = exact.clone();
        Arrays.sort(sorted);
        assertThat(found.ids()).hasSize(k).doesNotHaveDuplicates();
        for (int i = 0; i < k; i++) {
            Offset<Double> rounding = Offset.offset(1e-4 * (1 + Math.abs(sorted[i])));
            assertThat((double) found.distances()[i]).isCloseTo(sorted[i], rounding);
            assertThat(exact[(int) found.ids()[i]]).isCloseTo(sorted[i], rounding);
        }
    }

    private static double distance(Metric metric, float[] a, float[] b) {
        double squares = 0;
        double product = 0;
        double normA = 0;
        double normB = 0;
        for (int d = 0; d < a.length; d++) {
            squares += ((double) a[d] - b[d]) * ((double) a[d] - b[d]);
            product += (double) a[d] * b[d];
            normA += (double) a[d] * a[d];
            normB += (double) b[d] * b[d];
        }
        return switch (metric) {
            case SQUARED_L2 -> squares;
            case INNER_PRODUCT -> -product;
            case COSINE -> 1 - product / Math.sqrt(normA * normB);
        };
    }

    private static float[] near(Random random, float[] center) {
        float[] vector = center.clone();
        for (int d = 0; d < vector.length; d++) {
            vector[d] += (float) random.nextGaussian() / 4;
        }
        return vector;
    }

    @Test
    void aSearchMayWaitForAnotherInsideAWorkerEvenIfThereIsOnlyOne() {
        Topology oneCore = TopologyReader.synthetic("pack:1 core:1 pu:1").read();
        float[][] rows = gaussian(400, 8, new Random(9));
        try (Orchestrator single = Orchestrator.builder().topology(oneCore).build();
                IvfTable table = IvfTable.builder().nlist(20).build(single, rows);
                Registration other = single.register("other")) {
            long nearest = single.submit(
                            (query, context) ->
                                    table.search(query, 1, 20).join().ids()[0],
                            rows[123],
                            other.id())
                    .orTimeout(30, TimeUnit.SECONDS)
                    .join();
            assertThat(nearest).isEqualTo(123);
        }
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void aFilterMayWaitForAnotherSearchOfTheSameWorkers(Kept kept) throws Exception {
        Random random = new Random(77);
        float[][] rows = gaussian(1_600, 9, random);
        try (Orchestrator one = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1")
                                .read())
                        .build();
                IvfTable table = kept.builder().nlist(2).build(one, rows)) {
            SearchResult expected = table.search(
                            SearchRequest.of(rows[0], 20).effort(2).filter(IdFilter.of(id -> id % 2 == 0)))
                    .get();
            AtomicInteger tested = new AtomicInteger();
            SearchResult found = table.search(SearchRequest.of(rows[0], 20)
                            .effort(2)
                            .filter(IdFilter.of(id -> {
                                if (tested.getAndIncrement() % 50 == 0) {
                                    assertThat(table.search(rows[(int) id], 1, 2)
                                                    .join()
                                                    .size())
                                            .isEqualTo(1);
                                }
                                return id % 2 == 0;
                            })))
                    .get();
            assertThat(found).isEqualTo(expected);
            assertThat(tested.get()).isGreaterThan(20);
        }
    }
}
