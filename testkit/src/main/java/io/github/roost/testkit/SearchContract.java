package io.github.roost.testkit;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.Priority;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.TableClosedException;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What every index promises of its searches, changes and end as a {@link VectorTable}. A test class of each index extends it with how its tables
 * are made; what depends on more is decided by the type of the table. Tables have {@link #ROWS} rows of squared distance in all, unless a test says
 * otherwise.
 *
 * @param <T> the type of the tables
 */
@Tag("stress")
public abstract class SearchContract<T extends VectorTable> {
    /** The number of rows of a table. */
    protected static final int ROWS = 800;

    /** The number of lists or partitions of an index that has them. */
    protected static final int PARTS = 20;

    /** The number of rows of a search. */
    protected static final int K = 10;

    /** The number of components of a row. */
    protected static final int DIMENSION = 12;

    /** The rows, whose ids are their numbers. */
    protected static final float[][] VECTORS = gaussian(ROWS, DIMENSION, new Random(1));

    static final float[][] QUERIES = gaussian(20, DIMENSION, new Random(2));

    /** A folder of the test's own. */
    @TempDir
    @SuppressWarnings("NullAway.Init")
    protected Path folder;

    /** Two workers, whose full queues are waited for. */
    protected final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
            .build();

    /** Makes a table of {@link #VECTORS}; if the index can be built of arrays, then of arrays. */
    protected abstract T build(Orchestrator places, Metric metric);

    /** Begins what an index offers to bring a changed table into shape; a search, if it offers nothing. */
    protected void reorganize(T table) throws Exception {
        var _ = table.search(QUERIES[0], K);
    }

    /**
     * The smallest effort with which two searches for the same query find the same rows.
     *
     * @param table the table
     * @param k the rows that are searched for
     * @return a valid effort, not the largest
     */
    protected int sameTwice(T table, int k) {
        return table.minEffort(k);
    }

    /** The effort whose searches find the true neighbors. */
    protected static int exactEffort(VectorTable table) {
        return Math.min(ROWS, table.maxEffort());
    }

    @AfterEach
    protected void close() {
        orchestrator.close();
    }

    static long[] nearest(float[] query, int k) {
        return new ExactSearch(VECTORS).search(query, k).ids();
    }

    @Test
    void aRequestFindsWhatTheShorthandFinds() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            for (float[] query : QUERIES) {
                SearchResult result = table.search(SearchRequest.of(query, K).effort(exactEffort(table)))
                        .join();
                assertThat(result.ids()).isEqualTo(nearest(query, K));
                assertThat(result)
                        .isEqualTo(table.search(query, K, exactEffort(table)).join());
                assertThat(result.cutShort()).isFalse();
                assertThat(result.cost().visited()).isBetween((long) K, 2L * ROWS);
                assertThat(result.cost().expanded()).isBetween(0L, 2L * ROWS);
                assertThat(table.search(SearchRequest.of(query, K)).join())
                        .isEqualTo(table.search(query, K).join());
            }
        }
    }

    @Test
    void aFilterAndARadiusHoldTogether() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            for (float[] query : QUERIES) {
                SearchResult all = table.search(query, ROWS, exactEffort(table)).join();
                float radius = all.distances()[60];
                SearchResult found = table.search(SearchRequest.of(query, 1_000)
                                .effort(Math.min(1_000, table.maxEffort()))
                                .filter(IdFilter.of(id -> id % 3 == 0))
                                .radius(radius))
                        .join();
                assertThat(found.ids())
                        .isEqualTo(Arrays.stream(all.ids(), 0, 61)
                                .filter(id -> id % 3 == 0)
                                .toArray());
            }
        }
    }

    @Test
    void severalRequestsAreAnsweredInTheirOrderEachByItsOwnEffortAndK() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            List<SearchRequest> requests = Arrays.stream(QUERIES)
                    .map(query -> {
                        int k = 1 + (int) Math.abs(query[0] * 5);
                        return SearchRequest.of(query, k).effort(sameTwice(table, k) + (int) Math.abs(query[1] * 3));
                    })
                    .toList();
            List<CompletableFuture<SearchResult>> answers = table.searchAll(requests);
            for (int i = 0; i < requests.size(); i++) {
                assertThat(answers.get(i).join())
                        .isEqualTo(table.search(requests.get(i)).join());
            }
            assertThat(table.searchAll(List.of())).isEmpty();
        }
    }

    @Test
    void aTargetRecallIsReached() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            int hits = 0;
            for (float[] query : QUERIES) {
                long[] truth = nearest(query, K);
                SearchResult found = table.search(SearchRequest.of(query, K).targetRecall(.9))
                        .join();
                hits += (int) Arrays.stream(found.ids())
                        .filter(id -> Arrays.stream(truth).anyMatch(other -> other == id))
                        .count();
            }
            assertThat(hits).isGreaterThan((int) (.75 * K * QUERIES.length));
            SearchResult highRecall = table.search(
                            SearchRequest.of(QUERIES[0], K).targetRecall(1))
                    .join();
            SearchResult lowRecall = table.search(
                            SearchRequest.of(QUERIES[0], K).targetRecall(.1))
                    .join();
            assertThat(lowRecall.cost().visited())
                    .isLessThanOrEqualTo(highRecall.cost().visited());
            assertThat(table.effortFor(.9, K, QUERIES)).isBetween(1, 100_000);
        }
    }

    /** An effort that finds few rows, and one that finds all: an index may ask a filter in different ways. */
    private static List<Integer> efforts(VectorTable table) {
        return List.of(table.minEffort(K), exactEffort(table));
    }

    @Test
    void aFilterIsAskedInEverySearch() {
        Set<Long> inStock = ConcurrentHashMap.newKeySet();
        IdFilter filter = IdFilter.of(inStock::contains);
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            for (int effort : efforts(table)) {
                inStock.clear();
                LongStream.range(0, ROWS).filter(id -> id % 3 > 0).forEach(inStock::add);
                for (int row = 0; row < 60; row++) {
                    SearchRequest request =
                            SearchRequest.of(VECTORS[row], K).effort(effort).filter(filter);
                    assertThat(found(table, request)).isSubsetOf(inStock);
                    if (!inStock.remove((long) row)) {
                        inStock.add((long) row);
                    }
                    List<Long> after = found(table, request);
                    assertThat(after).isSubsetOf(inStock);
                    if (effort > table.minEffort(K)) {
                        assertThat(after).hasSize(K);
                        assertThat(after.contains((long) row)).isEqualTo(row % 3 == 0);
                    }
                }
            }
        }
    }

    private static List<Long> found(VectorTable table, SearchRequest request) {
        return LongStream.of(table.search(request).join().ids()).boxed().toList();
    }

    @Test
    void theSetOfAFilterMayChangeWhileSearchesRun() {
        Set<Long> inStock = ConcurrentHashMap.newKeySet();
        LongStream.range(0, ROWS).filter(id -> id % 4 == 0).forEach(inStock::add);
        IdFilter filter = IdFilter.of(inStock::contains);
        AtomicBoolean ends = new AtomicBoolean();
        Thread changes = Thread.ofPlatform().start(() -> {
            for (long id = 1; !ends.get(); id = (id + 4) % ROWS) {
                if (!inStock.remove(id)) {
                    inStock.add(id);
                }
            }
        });
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            for (float[] query : QUERIES) {
                for (int effort : efforts(table)) {
                    List<Long> ids = found(
                            table, SearchRequest.of(query, K).effort(effort).filter(filter));
                    assertThat(ids).allMatch(id -> id % 4 < 2);
                    if (effort > table.minEffort(K)) {
                        assertThat(ids).hasSize(K);
                    }
                }
            }
        } finally {
            ends.set(true);
            changes.interrupt();
        }
    }

    @Test
    void aFilterIsAskedAboutRowsThatArePutAndReplacedAfterItsFirstSearch() throws Exception {
        for (IdFilter filter : List.of(
                IdFilter.of(id -> id % 2 == 0), IdFilter.of(id -> id % 2 == 0).cached())) {
            try (T table = build(orchestrator, Metric.SQUARED_L2)) {
                float[] far = new float[DIMENSION];
                Arrays.fill(far, 50);
                SearchRequest request =
                        SearchRequest.of(far, 3).effort(exactEffort(table)).filter(filter);
                assertThat(found(table, request)).allMatch(id -> id % 2 == 0).doesNotContain(4L);
                if (!(table instanceof MutableVectorTable mutable)) {
                    return;
                }
                mutable.put(9_000, far);
                mutable.put(9_001, far);
                mutable.put(4, far);
                mutable.put(5, far);
                assertThat(found(table, request)).hasSize(3).startsWith(4L, 9_000L);
                mutable.put(4, VECTORS[4]);
                reorganize(table);
                assertThat(found(table, request)).hasSize(3).startsWith(9_000L).doesNotContain(4L);
                mutable.remove(9_000);
                assertThat(found(table, request)).hasSize(3).allMatch(id -> id % 2 == 0 && id < ROWS);
            }
        }
    }

    @Test
    void whatAFilterThrowsFailsItsSearchAlone() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            for (int effort : efforts(table)) {
                SearchRequest request = SearchRequest.of(QUERIES[0], K).effort(effort);
                SearchResult before = table.search(request).join();
                SearchRequest failing = request.filter(IdFilter.of(id -> {
                    throw new IllegalStateException("the stock is unknown");
                }));
                List<CompletableFuture<SearchResult>> answers = table.searchAll(List.of(request, failing, request));
                assertThatThrownBy(() -> answers.get(1).join()).hasRootCauseMessage("the stock is unknown");
                assertThat(answers.get(0).join()).isEqualTo(before);
                assertThat(answers.get(2).join()).isEqualTo(before);
            }
        }
    }

    @Test
    void aVisitLimitEndsASearchEarlyAndSaysSo() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            SearchRequest whole = SearchRequest.of(QUERIES[0], K).effort(Math.min(300, table.maxEffort()));
            SearchResult cut = table.search(whole.visitLimit(50)).join();
            SearchResult all = table.search(whole).join();
            assertThat(cut.cutShort()).isTrue();
            assertThat(cut.cost().visited()).isLessThan(all.cost().visited());
            assertThat(cut.size()).isBetween(1, K);
            assertThat(table.search(whole.visitLimit(1_000_000)).join().cutShort())
                    .isFalse();
        }
    }

    @Test
    void rowsArePutReplacedReadBackAndRemoved() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            assertThat(table.vector(17)).isEqualTo(VECTORS[17]);
            assertThat(table.vector(-1)).isNull();
            float[] far = new float[DIMENSION];
            Arrays.fill(far, 50);
            if (!(table instanceof MutableVectorTable mutable)) {
                return;
            }
            assertThat(mutable.put(9_000, far)).isTrue();
            assertThat(mutable.put(3, far)).isFalse();
            assertThat(table.size()).isEqualTo(ROWS + 1);
            assertThat(table.search(far, 2, exactEffort(table)).join().ids()).containsExactly(3, 9_000);
            assertThat(table.vector(3)).isEqualTo(far);
            assertThat(mutable.remove(3)).isTrue();
            assertThat(mutable.remove(3)).isFalse();
            assertThat(table.vector(3)).isNull();
            assertThat(table.search(far, 1, exactEffort(table)).join().ids()).containsExactly(9_000);
        }
    }

    @Test
    void badRequestsAreRefusedAtOnceByName() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            SearchRequest good = SearchRequest.of(QUERIES[0], K);
            refused("dimensions, got 3", () -> table.search(SearchRequest.of(new float[3], K)));
            refused("must be finite, got NaN", () -> {
                float[] query = QUERIES[0].clone();
                query[4] = Float.NaN;
                var _ = table.search(query, K);
            });
            refused("got 1,000,000", () -> table.search(good.effort(1_000_000)));
            refused("got 1,000,000", () -> table.searchAll(List.of(good, good.effort(1_000_000))));
            refused("k must be between 1 and 10,000, got 0", () -> SearchRequest.of(QUERIES[0], 0));
            refused("got 10,001", () -> table.search(QUERIES[0], 10_001));
            refused("radius must be a number", () -> good.radius(Float.NaN));
            refused("effort must be at least 1, got 0", () -> good.effort(0));
            refused("at most 1, got 1.5", () -> good.targetRecall(1.5));
            refused("visit limit must be at least 1, got 0", () -> good.visitLimit(0));
            refused("the sample must have at least one query", () -> table.effortFor(.9, K, new float[0][]));
            int least = table.minEffort(K);
            assertThat(table.search(good.effort(least)).join().size()).isBetween(1, K);
            refused("got " + (least - 1), () -> table.search(QUERIES[0], K, least - 1));
        }
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void nullsAreRefusedByName() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            SearchRequest good = SearchRequest.of(QUERIES[0], K);
            refusedNull("query", () -> table.search(null, K));
            refusedNull("query", () -> SearchRequest.of(null, K));
            refusedNull("request", () -> table.search(null));
            refusedNull("filter", () -> good.filter(null));
            refusedNull("timeout", () -> good.timeout(null));
            refusedNull("priority", () -> good.priority(null));
            refusedNull("ids", () -> IdFilter.of((BitSet) null));
            refusedNull("requests", () -> table.searchAll(null));
            refusedNull("request 1", () -> table.searchAll(Arrays.asList(good, null)));
            refusedNull("sample", () -> table.effortFor(.9, K, null));
            refusedNull("query 1", () -> table.effortFor(.9, K, new float[][] {QUERIES[0], null}));
            refusedNull("orchestrator", () -> build(null, Metric.SQUARED_L2));
            refusedNull("metric", () -> build(orchestrator, null));
            refusedNull("file", () -> table.save(null));
            refusedNull("rows", () -> VectorSource.of((float[][]) null));
            refusedNull("vector 1", () -> VectorSource.of(new float[][] {QUERIES[0], null}));
            if (table instanceof MutableVectorTable mutable) {
                assertThatThrownBy(() -> mutable.put(1, null))
                        .isInstanceOf(NullPointerException.class)
                        .hasMessageMatching("vector( 0)? must not be null");
            }
            assertThat(table).hasToString(table.stats().toString());
        }
    }

    /** Asserts that a call refuses a null. */
    protected static void refusedNull(String argument, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(argument + " must not be null");
    }

    static void refused(String message, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }

    @Test
    void deadlineAndPriorityAreTheRequests() {
        try (T table = build(orchestrator, Metric.SQUARED_L2)) {
            SearchRequest late = SearchRequest.of(QUERIES[0], K).timeout(Duration.ofNanos(1));
            assertThatThrownBy(() -> table.search(late).join()).hasCauseInstanceOf(DeadlineExceededException.class);
            assertThat(table.search(SearchRequest.of(QUERIES[0], K).priority(Priority.BATCH))
                            .join())
                    .isEqualTo(table.search(QUERIES[0], K).join());
            SearchRequest patient = SearchRequest.of(QUERIES[0], K).timeout(Duration.ofSeconds(Long.MAX_VALUE));
            assertThat(table.search(patient).join())
                    .isEqualTo(table.search(QUERIES[0], K).join());
            assertThat(table.search(patient.targetRecall(.9)).join().size()).isEqualTo(K);
        }
    }

    @Test
    void aClosedTableAndAClosedOrchestratorRefuseInOneWay() {
        T closed = build(orchestrator, Metric.SQUARED_L2);
        closed.close();
        closed.close();
        SearchRequest request = SearchRequest.of(QUERIES[0], K);
        assertThatThrownBy(() -> closed.search(request)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.search(QUERIES[0], K)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.search(QUERIES[0], K, 20)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.searchAll(List.of(request, request))).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.vector(1)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.save(folder.resolve("closed"))).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.effortFor(.9, K, QUERIES)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(closed::verify).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> reorganize(closed)).isInstanceOf(TableClosedException.class);
        if (closed instanceof MutableVectorTable mutable) {
            assertThatThrownBy(() -> mutable.put(1, QUERIES[0])).isInstanceOf(TableClosedException.class);
            assertThatThrownBy(() -> mutable.remove(1)).isInstanceOf(TableClosedException.class);
        }
        T open = build(orchestrator, Metric.SQUARED_L2);
        orchestrator.close();
        assertThatThrownBy(() -> open.search(request)).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.search(QUERIES[0], K)).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.search(request.targetRecall(.9))).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.searchAll(List.of(request, request)))
                .isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.searchAll(List.of(request, request.targetRecall(.9))))
                .isInstanceOf(OrchestratorClosedException.class);
        if (open instanceof MutableVectorTable mutable) {
            assertThatThrownBy(() -> mutable.put(1, QUERIES[0])).isInstanceOf(OrchestratorClosedException.class);
            assertThatThrownBy(() -> mutable.remove(1)).isInstanceOf(OrchestratorClosedException.class);
        }
        assertThatThrownBy(() -> open.effortFor(.9, K, QUERIES)).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> reorganize(open)).isInstanceOf(OrchestratorClosedException.class);
        open.close();
    }

    /** Runs on a worker until it is let go. It spins, because a worker whose thread blocks is given another one. */
    private static final class Spin {
        private final AtomicInteger begun = new AtomicInteger();
        private final AtomicBoolean ends = new AtomicBoolean();

        boolean untilItEnds() {
            begun.incrementAndGet();
            while (!ends.get()) {
                Thread.onSpinWait();
            }
            return true;
        }

        void awaitBegun() {
            while (begun.get() == 0) {
                Thread.onSpinWait();
            }
        }
    }

    private static Orchestrator.Builder oneWorker() {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read());
    }

    @Test
    @Timeout(120)
    void aFullQueueIsThrownByASearchAndInTheFutureOfOneOfSeveral() {
        Spin spin = new Spin();
        try (Orchestrator full = oneWorker()
                        .ringCapacity(1)
                        .overloadPolicy(OverloadPolicy.reject())
                        .build();
                T table = build(full, Metric.SQUARED_L2)) {
            SearchRequest request = SearchRequest.of(QUERIES[0], K).effort(exactEffort(table));
            long[] nearest = nearest(QUERIES[0], K);
            SearchFunction<Integer, Boolean> keepsTheWorker = (none, context) -> spin.untilItEnds();
            CompletableFuture<Boolean> kept =
                    full.submit(keepsTheWorker, 0, full.register("other").id());
            spin.awaitBegun();
            List<CompletableFuture<SearchResult>> accepted = new ArrayList<>();
            RejectedSearchException refused = null;
            while (refused == null && accepted.size() < 10_000) {
                try {
                    accepted.add(table.search(request));
                } catch (RejectedSearchException full1) {
                    refused = full1;
                }
            }
            assertThat(refused).isNotNull();
            assertThatThrownBy(() -> table.search(QUERIES[0], K)).isInstanceOf(RejectedSearchException.class);
            assertThatThrownBy(() -> table.search(QUERIES[0], K, exactEffort(table)))
                    .isInstanceOf(RejectedSearchException.class);
            List<CompletableFuture<SearchResult>> several = table.searchAll(List.of(request, request.radius(50)));
            assertThat(several)
                    .hasSize(2)
                    .allSatisfy(search ->
                            assertThatThrownBy(search::join).hasCauseInstanceOf(RejectedSearchException.class));
            spin.ends.set(true);
            assertThat(kept.join()).isTrue();
            assertThat(accepted)
                    .isNotEmpty()
                    .allSatisfy(search -> assertThat(search.join().ids()).isEqualTo(nearest));
            assertThat(onceAccepted(() -> table.search(request)).join().ids()).isEqualTo(nearest);
        } finally {
            spin.ends.set(true);
        }
    }

    /** A task of a group whose queries another task has answered keeps its place until its worker has taken it. */
    private static CompletableFuture<SearchResult> onceAccepted(Supplier<CompletableFuture<SearchResult>> search) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (true) {
            try {
                return search.get();
            } catch (RejectedSearchException full) {
                if (System.nanoTime() - end > 0) {
                    throw full;
                }
                Thread.onSpinWait();
            }
        }
    }

    @Test
    @Timeout(120)
    void searchesThatAClosedOrchestratorDidNotFinishInTimeFail() {
        Spin spin = new Spin();
        Orchestrator hurried = oneWorker().build();
        try {
            T table = build(hurried, Metric.SQUARED_L2);
            SearchRequest request = SearchRequest.of(QUERIES[0], K).effort(exactEffort(table));
            CompletableFuture<SearchResult> running =
                    table.search(request.filter(IdFilter.of(id -> spin.untilItEnds())));
            spin.awaitBegun();
            CompletableFuture<SearchResult> waiting = table.search(request);
            assertThat(hurried.close(Duration.ofMillis(20))).isFalse();
            assertThatThrownBy(running::join).hasCauseInstanceOf(OrchestratorClosedException.class);
            assertThatThrownBy(waiting::join).hasCauseInstanceOf(OrchestratorClosedException.class);
            spin.ends.set(true);
            table.close();
        } finally {
            spin.ends.set(true);
            hurried.close();
        }
    }

    @Test
    void insideASearchCloseReturnsAndTheMemoryIsFreedWhenTheSearchHasEnded() {
        T table = build(orchestrator, Metric.SQUARED_L2);
        if (table instanceof MutableVectorTable mutable) {
            mutable.put(9_000, QUERIES[1]);
        }
        SearchFunction<float[], Boolean> closing = (query, context) -> {
            table.close();
            return table.registration().use().freed().isDone();
        };
        assertThat(orchestrator
                        .submit(closing, QUERIES[0], table.registration().id(0))
                        .join())
                .isFalse();
        table.close();
        assertThat(table.registration().use().freed()).isDone();
        assertThat(table.bytes()).isZero();
    }
}
