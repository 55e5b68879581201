package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableClosedException;
import io.github.roost.testkit.Asking;
import io.github.roost.testkit.Effort;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables that change, against a map of what they should hold. */
@Tag("stress")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class IvfMutationTest {
    private static final int DIMENSION = 20;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .build();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    /** Halves and codes alone are exact for whole numbers, which unit vectors are not made of. */
    static Stream<Arguments> metricsAndKept() {
        return Arrays.stream(Metric.values())
                .flatMap(metric -> Arrays.stream(Kept.values())
                        .filter(kept -> metric != Metric.COSINE || (kept != Kept.HALVES && kept != Kept.CODES))
                        .map(kept -> Arguments.of(metric, kept)));
    }

    @ParameterizedTest
    @MethodSource("metricsAndKept")
    void whatIsAddedRemovedAndChangedIsSeenByTheNextSearch(Metric metric, Kept kept) {
        Random random = new Random(5);
        Map<Long, float[]> expected = new TreeMap<>();
        IvfTable table = table(kept, metric, 300, random, expected);
        for (int step = 0; step < 3_000; step++) {
            long id = random.nextInt(900);
            if (!expected.containsKey(id)) {
                assertThat(table.remove(id)).isFalse();
                expected.put(id, vector(random));
                table.add(id, expected.get(id));
            } else if (random.nextInt(3) > 0) {
                assertThat(table.remove(id)).isTrue();
                expected.remove(id);
            } else {
                expected.put(id, vector(random));
                table.update(id, expected.get(id));
            }
            if (step == 1_500) {
                table.rebuild().join();
            }
            if (step % 20 == 0) {
                assertSearchesAreExact(table, expected, random);
            }
        }
        assertThat(table.size()).isEqualTo(expected.size());
    }

    static Stream<Arguments> sharesAndKept() {
        return Stream.of(1, 2, 10, 100, 10_000)
                .flatMap(oneIn -> Arrays.stream(Kept.values()).map(kept -> Arguments.of(oneIn, kept)));
    }

    @ParameterizedTest
    @MethodSource("sharesAndKept")
    void aFilteredSearchIsExactAmongWhatItMayFind(int oneIn, Kept kept) {
        Random random = new Random(11);
        Map<Long, float[]> expected = new TreeMap<>();
        IvfTable table = table(kept, Metric.SQUARED_L2, 2_000, random, expected);
        for (long id = 2_000; id < 2_500; id++) {
            expected.put(id, vector(random));
            table.add(id, expected.get(id));
        }
        expected.keySet().removeIf(id -> id % oneIn != 0);
        for (int i = 0; i < 20; i++) {
            float[] query = vector(random);
            SearchResult found = table.search(SearchRequest.of(query, 10)
                            .effort(table.nlist())
                            .filter(IdFilter.of(id -> id % oneIn == 0)))
                    .join();
            assertThat(found.ids()).containsExactly(nearest(expected, query, table.metric()));
        }
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void aFilterThatThrowsFailsItsSearchAlone(Kept kept) {
        Random random = new Random(12);
        Map<Long, float[]> expected = new TreeMap<>();
        IvfTable table = table(kept, Metric.SQUARED_L2, 100, random, expected);
        CompletableFuture<SearchResult> failing = table.search(
                SearchRequest.of(vector(random), 5).effort(table.nlist()).filter(IdFilter.of(id -> {
                    throw new IllegalStateException("filter");
                })));
        assertThatThrownBy(failing::join).hasRootCauseMessage("filter");
        assertSearchesAreExact(table, expected, random);
    }

    /** More than a search keeps room for on a small table. */
    @ParameterizedTest
    @EnumSource(Kept.class)
    void rowsThatAreAddedWhileASearchWaitsPushOutNoneThatWereAskedFor(Kept kept) throws Exception {
        int added = 300;
        try (Orchestrator one = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build()) {
            IvfTable table =
                    kept.builder().nlist(1).build(one, new float[][] {constant(40), constant(41), constant(42)});
            BusyWorker busy = new BusyWorker(one, table);
            CompletableFuture<SearchResult> all = table.search(new float[DIMENSION], 1_000, 1);
            CompletableFuture<SearchResult> some = table.search(new float[DIMENSION], 100, 1);
            CompletableFuture<SearchResult> within = table.search(SearchRequest.of(new float[DIMENSION], 1_000)
                    .radius(Float.POSITIVE_INFINITY)
                    .effort(1));
            // So many at once go to their list; others would wait in a buffer that the searches did not see.
            table.add(
                    LongStream.range(1_000, 1_000 + added).toArray(),
                    IntStream.range(0, added)
                            .mapToObj(i -> constant(1 + i % 30))
                            .toArray(float[][]::new));
            busy.close();
            assertThat(all.join().ids()).hasSize(added + 3).contains(0, 1, 2);
            assertThat(some.join().ids()).hasSize(100);
            assertThat(within.join().ids()).hasSize(added + 3).contains(0, 1, 2);
        }
    }

    @Test
    void aBatchIsCheckedBeforeItBegins() {
        Random random = new Random(13);
        Map<Long, float[]> expected = new TreeMap<>();
        IvfTable table = table(Metric.SQUARED_L2, 100, random, expected);
        List<float[]> queries = List.of(vector(random), vector(random));
        assertThat(Asking.all(table, queries, 10, table.nlist()))
                .extracting(answer -> answer.join().ids())
                .containsExactly(
                        nearest(expected, queries.get(0), table.metric()),
                        nearest(expected, queries.get(1), table.metric()));
        assertThatThrownBy(() -> Asking.all(table, List.of(vector(random), new float[2]), 10, 1))
                .hasMessageContaining("must have 20 dimensions, got 2");
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void listsThatARebuildOfFewRowsHasLeftOutComeBackWithTheRows(Kept kept) {
        Random random = new Random(14);
        Map<Long, float[]> expected = new TreeMap<>();
        IvfTable table = table(kept, Metric.SQUARED_L2, 500, random, expected);
        int lists = table.nlist();
        for (long id : List.copyOf(expected.keySet())) {
            if (expected.size() > lists / 2) {
                assertThat(table.remove(id)).isTrue();
                expected.remove(id);
            }
        }
        table.rebuild().join();
        assertThat(table.listSize(lists - 1)).isZero();
        // There are fewer lists now than the one search asks for, and more than the other does.
        SearchRequest few = SearchRequest.of(vector(random), 3).effort(2);
        assertThat(table.searchAll(List.of(few.effort(lists), few)).getLast().join())
                .isEqualTo(table.search(few).join());
        for (long id = 1_000; id < 1_500; id++) {
            table.add(id, vector(random));
        }
        table.rebuild().join();
        assertThat(IntStream.range(0, lists).filter(list -> table.listSize(list) > 0))
                .hasSizeGreaterThan(lists / 2);
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void aTableMayBeEmptiedAndFilledAgain(Kept kept) {
        Random random = new Random(6);
        Map<Long, float[]> expected = new TreeMap<>();
        IvfTable table = table(kept, Metric.SQUARED_L2, 500, random, expected);
        expected.keySet().forEach(id -> assertThat(table.remove(id)).isTrue());
        expected.clear();
        assertThat(table.size()).isZero();
        assertThat(table.imbalance()).isEqualTo(1);
        assertThat(table.search(vector(random), 5, table.nlist()).join().size()).isZero();
        table.rebuild().join();
        long[] ids = LongStream.range(0, 700).toArray();
        float[][] rows = new float[ids.length][];
        Arrays.setAll(rows, i -> vector(random));
        table.add(ids, rows);
        for (int i = 0; i < ids.length; i++) {
            expected.put(ids[i], rows[i]);
        }
        assertSearchesAreExact(table, expected, random);
        table.rebuild().join();
        assertSearchesAreExact(table, expected, random);
    }

    /** While the only worker is busy every removal from a sparse list could queue another. */
    @Test
    void aListIsQueuedForCompactionOnce() throws Exception {
        try (Orchestrator one = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build()) {
            float[][] rows = new float[500][];
            Arrays.setAll(rows, i -> constant(i % 200));
            IvfTable table = IvfTable.builder().nlist(1).build(one, rows);
            for (int round = 0; round < 2; round++) {
                BusyWorker busy = new BusyWorker(one, table);
                try {
                    for (int i = 0; i < 200; i++) {
                        assertThat(table.remove(200L * round + i)).isTrue();
                    }
                    assertThat(one.stats().domains().getFirst().maintenance()).isEqualTo(1);
                } finally {
                    busy.close();
                }
                one.indexing().runBatch("after the compaction", 1, piece -> {});
                assertThat(table.listSize(0)).isEqualTo(300 - 200 * round);
            }
        }
    }

    @Test
    void aRebuildThatIsCancelledLeavesTheListsInForceAndAnotherMayBegin() throws Exception {
        try (Orchestrator one = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build()) {
            float[][] rows = new float[500][];
            Arrays.setAll(rows, i -> constant(i));
            IvfTable table = IvfTable.builder().nlist(5).build(one, rows);
            TableBuild<IvfTable> rebuild;
            BusyWorker busy = new BusyWorker(one, table);
            try {
                rebuild = table.rebuild();
                assertThat(table.rebuild()).isSameAs(rebuild);
                assertThat(rebuild.cancel()).isTrue();
            } finally {
                busy.close();
            }
            assertThatThrownBy(rebuild::join).isInstanceOf(CancellationException.class);
            assertThat(table.search(constant(77), 1, 5).join().ids()).containsExactly(77);

            TableBuild<IvfTable> again = table.rebuild();
            assertThat(again.join()).isSameAs(table);
            assertThat(again.progress()).isEqualTo(1);
            assertThat(again.cancel()).isFalse();
            assertThat(table.search(constant(77), 1, 5).join().ids()).containsExactly(77);
        }
    }

    /** Without the end of the training its workers would go on for minutes. */
    @Test
    @Timeout(120)
    void closingATableEndsTheRebuildUnderWay() {
        Random random = new Random(6);
        float[][] rows = new float[15_000][];
        Arrays.setAll(rows, i -> vector(random));
        IvfTable table = IvfTable.builder().name("slow").nlist(1_500).nprobe(1).build(orchestrator, rows);
        TableBuild<IvfTable> rebuild = table.rebuild();
        // By then the rows are copied: it is the training that runs.
        while (rebuild.progress() < .1) {
            Thread.onSpinWait();
        }
        table.close();
        assertThatThrownBy(rebuild::join).isInstanceOf(TableClosedException.class);
        assertThat(rebuild.progress()).isLessThan(.9);
        while (orchestrator.stats().tables().stream()
                .anyMatch(other -> other.name().equals("slow (rebuild)"))) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aRebuildEvensOutAStreamThatHasDrifted() {
        Random random = new Random(7);
        Map<Long, float[]> expected = new TreeMap<>();
        IvfTable table = table(Metric.SQUARED_L2, 400, random, expected);
        double before = table.imbalance();
        for (long id = 10_000; id < 14_000; id++) {
            float[] far = vector(random);
            far[0] += 5_000;
            expected.put(id, far);
            table.add(id, far);
        }
        double drifted = table.imbalance();
        table.rebuild().join();
        assertThat(drifted).isGreaterThan(2 * before);
        assertThat(table.imbalance()).isLessThan(drifted / 2);
        assertSearchesAreExact(table, expected, random);
    }

    @Test
    void badInputIsNamedAndChangesNothing() {
        Random random = new Random(8);
        Map<Long, float[]> expected = new TreeMap<>();
        IvfTable table = table(Metric.COSINE, 50, random, expected);
        float[] nan = vector(random);
        nan[3] = Float.NaN;
        assertThatThrownBy(() -> table.add(0, vector(random))).hasMessageContaining("id 0 is in the table already");
        assertThatThrownBy(() -> table.add(new long[] {900, 7}, new float[][] {vector(random), vector(random)}))
                .hasMessageContaining("id 7 is in the table already");
        assertThatThrownBy(() -> table.add(new long[] {900, 900}, new float[][] {vector(random), vector(random)}))
                .hasMessageContaining("900 twice");
        assertThatThrownBy(() -> table.add(new long[] {900, 901}, new float[][] {vector(random), nan}))
                .hasMessageContaining("vector 1 must be finite, got NaN in dimension 3");
        assertThatThrownBy(() -> table.add(900, new float[DIMENSION])).hasMessageContaining("must not be zero");
        assertThatThrownBy(() -> table.add(900, new float[3])).hasMessageContaining("must have 20 dimensions, got 3");
        assertThatThrownBy(() -> table.add(new long[] {900}, new float[0][])).hasMessageContaining("one id per vector");
        assertThatThrownBy(() -> table.update(900, vector(random))).hasMessageContaining("id 900 is not in the table");
        assertThatThrownBy(() -> table.update(7, nan)).hasMessageContaining("must be finite");
        assertThat(table.size()).isEqualTo(50);
        assertSearchesAreExact(table, expected, random);
        table.close();
        assertThatThrownBy(() -> table.add(900, vector(random))).hasMessageContaining("is closed");
        assertThatThrownBy(() -> table.remove(0)).hasMessageContaining("is closed");
        assertThatThrownBy(table::rebuild).hasMessageContaining("is closed");
    }

    /**
     * Every row is the same number in all components, so its distance to the origin tells whether it was read whole. Half of
     * the rows, the nearest, are left as they are: a search may miss those that change while it runs, not these.
     */
    @ParameterizedTest
    @EnumSource(Kept.class)
    void noSearchSeesHalfAVectorOrARowTwice(Kept kept) throws Exception {
        int rows = 400;
        int changing = 200;
        float[][] constant = new float[rows][];
        Arrays.setAll(constant, i -> constant(i < changing ? 10 + i % 40 : 1 + i % 9));
        Long[] unchanged = LongStream.range(changing, rows).boxed().toArray(Long[]::new);
        IvfTable table = kept.builder().nlist(8).nprobe(8).build(orchestrator, constant);
        AtomicBoolean stop = new AtomicBoolean();
        try (ExecutorService threads =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            Future<?> changes = threads.submit(() -> {
                Random random = new Random(9);
                for (int i = 0; !stop.get(); i++) {
                    long id = random.nextInt(changing);
                    if (i % 3 == 0) {
                        table.remove(id);
                        table.add(id, constant(10 + random.nextInt(40)));
                    } else {
                        table.update(id, constant(10 + random.nextInt(40)));
                    }
                }
            });
            Future<?> rebuilds = threads.submit(() -> {
                while (!stop.get()) {
                    table.rebuild().join();
                }
            });
            try {
                for (int i = 0; i < Effort.times(200); i++) {
                    SearchResult all = table.search(new float[DIMENSION], rows).join();
                    Set<Long> ids = new HashSet<>();
                    for (int n = 0; n < all.size(); n++) {
                        double component = Math.sqrt(all.distances()[n] / DIMENSION);
                        assertThat(component).isEqualTo(Math.rint(component)).isBetween(1., 49.);
                        assertThat(ids.add(all.ids()[n]))
                                .as("row %d once", all.ids()[n])
                                .isTrue();
                    }
                    assertThat(ids).contains(unchanged);
                }
            } finally {
                stop.set(true);
            }
            changes.get();
            rebuilds.get();
        }
    }

    /**
     * Two threads write, each its own ids, one rebuilds and two search: an id that nobody changed from before a search to after
     * it is in the answer with its distance, or absent, or farther than the last. Few ids, so that searches and changes meet.
     */
    @ParameterizedTest
    @EnumSource(Kept.class)
    void everyAnswerIsRightForAllThatNobodyChangesMeanwhile(Kept kept) throws Exception {
        int ids = 40;
        AtomicLongArray changes = new AtomicLongArray(ids);
        AtomicReferenceArray<float[]> rows = new AtomicReferenceArray<>(ids);
        float[][] first = new float[ids][];
        Random random = new Random(15);
        for (int id = 0; id < ids; id++) {
            first[id] = vector(random);
            rows.set(id, first[id]);
        }
        IvfTable table = kept.builder().nlist(4).rerank(100).build(orchestrator, first);
        // What codes are learned from, whatever else is stored.
        table.add(new long[] {ids, ids + 1}, new float[][] {constant(0), constant(255)});
        table.rebuild().join();
        AtomicInteger writing = new AtomicInteger(2);
        try (ExecutorService threads =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            List<Future<?>> running = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                Random own = new Random(16 + thread);
                int parity = thread;
                running.add(threads.submit(() -> {
                    try {
                        for (int change = 0; change < 100_000; change++) {
                            int id = 2 * own.nextInt(ids / 2) + parity;
                            changes.incrementAndGet(id);
                            rows.set(id, changed(table, id, rows.get(id), own));
                            changes.incrementAndGet(id);
                        }
                    } finally {
                        writing.decrementAndGet();
                    }
                }));
                running.add(threads.submit(() -> {
                    Random chance = new Random(18 + parity);
                    while (writing.get() > 0) {
                        float[] query = vector(chance);
                        int k = 1 + chance.nextInt(10);
                        long[] before = new long[ids];
                        float[][] then = new float[ids][];
                        for (int id = 0; id < ids; id++) {
                            before[id] = changes.get(id);
                            then[id] = rows.get(id);
                        }
                        SearchResult found = table.search(query, k, 4).join();
                        Map<Long, Float> distances = new TreeMap<>();
                        for (int i = 0; i < found.size(); i++) {
                            assertThat(distances.put(found.ids()[i], found.distances()[i]))
                                    .isNull();
                        }
                        for (int id = 0; id < ids; id++) {
                            if (before[id] % 2 == 0 && changes.get(id) == before[id]) {
                                assertRight(found, distances.get((long) id), k, query, then[id]);
                            }
                        }
                    }
                }));
            }
            while (writing.get() > 0) {
                table.rebuild().join();
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
    }

    /** Changes a row that is of no components where there is none; what it is then. */
    private static float[] changed(IvfTable table, long id, float[] row, Random random) {
        float[] next = random.nextInt(3) == 0 ? new float[0] : vector(random);
        if (row.length > 0 && next.length > 0) {
            table.update(id, next);
        } else if (next.length > 0) {
            table.add(id, next);
        } else {
            assertThat(table.remove(id)).isEqualTo(row.length > 0);
        }
        return next;
    }

    private static void assertRight(SearchResult found, @Nullable Float distance, int k, float[] query, float[] row) {
        if (row.length == 0) {
            assertThat(distance).isNull();
        } else if (distance != null) {
            assertThat(distance).isEqualTo(ExactSearch.distance(query, row, Metric.SQUARED_L2));
        } else {
            assertThat(found.size()).isEqualTo(k);
            assertThat(ExactSearch.distance(query, row, Metric.SQUARED_L2))
                    .isGreaterThanOrEqualTo(found.distances()[k - 1]);
        }
    }

    @ParameterizedTest
    @EnumSource(Kept.class)
    void writersAndRebuildsTogetherLoseNothing(Kept kept) throws Exception {
        Random random = new Random(10);
        Map<Long, float[]> expected = new TreeMap<>();
        IvfTable table = table(kept, Metric.SQUARED_L2, 200, random, expected);
        List<Future<Map<Long, float[]>>> writers = new ArrayList<>();
        try (ExecutorService threads =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            for (int writer = 0; writer < 3; writer++) {
                int own = writer;
                writers.add(threads.submit(() -> {
                    Random chance = new Random(own);
                    Map<Long, float[]> mine = new TreeMap<>();
                    for (int i = 0; i < 4_000; i++) {
                        long id = 1_000 + own + 3L * chance.nextInt(500);
                        float[] row = vector(chance);
                        if (mine.containsKey(id) && chance.nextBoolean()) {
                            table.remove(id);
                            mine.remove(id);
                        } else if (mine.put(id, row) == null) {
                            table.add(id, row);
                        } else {
                            table.update(id, row);
                        }
                    }
                    return mine;
                }));
            }
            while (writers.stream().anyMatch(writer -> !writer.isDone())) {
                table.rebuild().join();
            }
            for (Future<Map<Long, float[]>> writer : writers) {
                expected.putAll(writer.get());
            }
        }
        assertThat(table.size()).isEqualTo(expected.size());
        assertSearchesAreExact(table, expected, random);
    }

    private IvfTable table(Metric metric, int rows, Random random, Map<Long, float[]> expected) {
        return table(Kept.CODED_FLOATS, metric, rows, random, expected);
    }

    /** With so many candidates that all near rows are compared exactly. */
    private IvfTable table(Kept kept, Metric metric, int rows, Random random, Map<Long, float[]> expected) {
        float[][] vectors = new float[rows][];
        for (int row = 0; row < rows; row++) {
            vectors[row] = vector(random);
            expected.put((long) row, vectors[row]);
        }
        return kept.builder().metric(metric).nlist(8).rerank(100).build(orchestrator, vectors);
    }

    private static void assertSearchesAreExact(IvfTable table, Map<Long, float[]> expected, Random random) {
        List<float[]> queries = List.of(vector(random), vector(random));
        List<CompletableFuture<SearchResult>> answers = queries.stream()
                .map(query -> table.search(query, 10, table.nlist()))
                .toList();
        for (int i = 0; i < answers.size(); i++) {
            assertThat(answers.get(i).join().ids()).containsExactly(nearest(expected, queries.get(i), table.metric()));
        }
    }

    private static long[] nearest(Map<Long, float[]> rows, float[] query, Metric metric) {
        return ExactSearch.exact(rows, query, 10, metric).ids();
    }

    private static float[] vector(Random random) {
        return WholeNumbers.vector(DIMENSION, random);
    }

    private static float[] constant(int value) {
        return WholeNumbers.constant(DIMENSION, value);
    }
}
