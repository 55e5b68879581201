package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.Part;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Await;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queries that are served together. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BatchQueueTest {
    private Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
    private MappingId id = orchestrator.register("table").id();
    private final CountDownLatch busyUntil = new CountDownLatch(1);
    private final List<Integer> groups = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        busyUntil.countDown();
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private void restart(Orchestrator.Builder builder) {
        orchestrator.close();
        orchestrator = builder.build();
        id = orchestrator.register("table").id();
    }

    /** Answers each query with its double, and notes how many there were. */
    private Indexing.BatchQueue<Integer, Integer> doubling() {
        return orchestrator.indexing().batchQueue(id, (group, context) -> {
            groups.add(group.size());
            for (int i = 0; i < group.size(); i++) {
                group.answer(i, 2 * group.query(i));
            }
            return Step.done(true);
        });
    }

    private CompletableFuture<Integer> submit(Indexing.BatchQueue<Integer, Integer> queue, int query) {
        return orchestrator.indexing().submitShared(queue, query, SubmitOptions.DEFAULT);
    }

    /** Keeps the worker busy until {@link #busyUntil}; returns once it is. */
    private void occupy() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        var _ = orchestrator.submit(
                (query, context) -> {
                    begun.countDown();
                    busyUntil.await();
                    return query;
                },
                0,
                id);
        begun.await();
    }

    @Test
    void anIdleSystemServesAQueryAtOnceAndByItself() {
        Indexing.BatchQueue<Integer, Integer> queue = doubling();
        for (int i = 0; i < 100; i++) {
            assertThat(submit(queue, i).join()).isEqualTo(2 * i);
        }
        assertThat(groups).hasSize(100).containsOnly(1);
    }

    @Test
    void queriesThatWaitAreServedTogetherOnceEachWithItsAnswer() throws Exception {
        occupy();
        Indexing.BatchQueue<Integer, Integer> queue = doubling();
        List<CompletableFuture<Integer>> answers =
                IntStream.range(0, 50).mapToObj(i -> submit(queue, i)).toList();
        assertThat(queue.waiting()).isEqualTo(50);
        busyUntil.countDown();
        for (int i = 0; i < 50; i++) {
            assertThat(answers.get(i).join()).isEqualTo(2 * i);
        }
        // The worker is busy, and nobody knows yet how long a query takes: groups are of 4 at most.
        assertThat(groups).hasSize(13).allSatisfy(size -> assertThat(size).isBetween(3, 4));
        assertThat(queue.waiting()).isZero();
    }

    /** The caller runs the tasks of both queues one after the other; the first waits for a query of the second. */
    @Test
    void aSearchThatItsSubmitterRunsMayWaitForAQueryOfAnotherQueue() throws Exception {
        restart(Machines.orchestrator(1, 1).ringCapacity(1).overloadPolicy(OverloadPolicy.callerRuns()));
        occupy();
        var _ = orchestrator.submit((query, context) -> query, 0, id);
        Indexing.BatchQueue<Integer, Integer> second = doubling();
        Indexing.BatchQueue<Integer, Integer> first = orchestrator.indexing().batchQueue(id, (group, context) -> {
            CompletableFuture<Integer> inner = submit(second, group.query(0));
            busyUntil.countDown();
            group.answer(0, inner.join());
            return Step.done(true);
        });
        Step.Fork<Integer, Integer, Integer, Integer> both = new Step.Fork<>(
                List.of(),
                List.of(first, second),
                7,
                (same, found, context) ->
                        Step.done(found.stream().mapToInt(each -> each).sum()));
        assertThat(orchestrator
                        .indexing()
                        .submitFork(both, 7, SubmitOptions.DEFAULT)
                        .join())
                .isEqualTo(28);
    }

    @Test
    void withTheRuleOfOneQueryPerGroupNothingThatWaitsIsShared() throws Exception {
        restart(Machines.orchestrator(1, 1).groupRule(GroupRule.ALONE));
        occupy();
        Indexing.BatchQueue<Integer, Integer> queue = doubling();
        List<CompletableFuture<Integer>> answers =
                IntStream.range(0, 50).mapToObj(i -> submit(queue, i)).toList();
        busyUntil.countDown();
        for (int i = 0; i < 50; i++) {
            assertThat(answers.get(i).join()).isEqualTo(2 * i);
        }
        assertThat(groups).hasSize(50).containsOnly(1);
    }

    @Test
    void deadlineCancellationAndFailureAreThoseOfEachQueryAlone() throws Exception {
        occupy();
        IllegalStateException broken = new IllegalStateException("query 3 is broken");
        List<Integer> served = new CopyOnWriteArrayList<>();
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator.indexing().batchQueue(id, (group, context) -> {
            for (int i = 0; i < group.size(); i++) {
                served.add(group.query(i));
                if (group.query(i) == 3) {
                    group.fail(i, broken);
                } else {
                    group.answer(i, group.query(i));
                }
            }
            return Step.done(true);
        });
        CompletableFuture<Integer> fine = submit(queue, 1);
        CompletableFuture<Integer> late =
                orchestrator.indexing().submitShared(queue, 2, SubmitOptions.DEFAULT.withTimeout(Duration.ofNanos(1)));
        CompletableFuture<Integer> failed = submit(queue, 3);
        CompletableFuture<Integer> cancelled = submit(queue, 4);
        CompletableFuture<Integer> alsoFine = submit(queue, 5);
        cancelled.cancel(false);
        busyUntil.countDown();
        assertThat(fine.join()).isEqualTo(1);
        assertThat(alsoFine.join()).isEqualTo(5);
        assertThatThrownBy(late::get).hasCauseInstanceOf(DeadlineExceededException.class);
        assertThatThrownBy(failed::get).hasCause(broken);
        assertThatThrownBy(cancelled::join).isInstanceOf(CancellationException.class);
        assertThat(served).containsExactly(1, 3, 5);
    }

    @Test
    void aGroupSearchThatThrowsFailsThoseWithoutAnswerOnly() throws Exception {
        occupy();
        IllegalStateException broken = new IllegalStateException("in the midst");
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator.indexing().batchQueue(id, (group, context) -> {
            group.answer(0, 10);
            group.fail(1, new IllegalArgumentException("its own"));
            throw broken;
        });
        List<CompletableFuture<Integer>> answers =
                IntStream.range(0, 4).mapToObj(i -> submit(queue, i)).toList();
        busyUntil.countDown();
        assertThat(answers.get(0).join()).isEqualTo(10);
        assertThatThrownBy(answers.get(1)::get).hasCauseInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(answers.get(2)::get).hasCause(broken);
        assertThatThrownBy(answers.get(3)::get).hasCause(broken);
        // The queue lives on.
        assertThat(submit(queue, 9).join()).isEqualTo(10);
    }

    @Test
    void aQueryWithoutAnswerHasFoundNull() {
        Indexing.BatchQueue<Integer, Integer> queue =
                orchestrator.indexing().batchQueue(id, (group, context) -> Step.done(true));
        assertThat(submit(queue, 1).join()).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aGroupSearchThatForksFailsItsQueriesAlsoInALaterSlice(boolean later) {
        Step<Indexing.GroupSearch.Group<Integer, Integer>, Boolean> fork = new Step.Fork<>(
                List.of(new Part<Integer, Integer>((query, context) -> query, 1, id)),
                List.of(),
                null,
                (group, results, context) -> Step.done(true));
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator
                .indexing()
                .batchQueue(id, (group, context) -> later ? new Step.Yield<>((same, next) -> fork) : fork);
        CompletableFuture<Integer> answer = submit(queue, 1);
        assertThatThrownBy(answer::get)
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("must not fork");
    }

    @Test
    void aCallbackOfOneAnswerMayJoinASiblings() throws Exception {
        occupy();
        Indexing.BatchQueue<Integer, Integer> queue = doubling();
        CompletableFuture<Integer> first = submit(queue, 1);
        CompletableFuture<Integer> third = submit(queue, 3);
        CompletableFuture<Integer> sum = first.thenCombine(third, Integer::sum);
        CompletableFuture<Integer> joined = first.thenApply(found -> found + third.join());
        CompletableFuture<Integer> other = third.thenApply(found -> found + first.join());
        busyUntil.countDown();
        assertThat(sum.join()).isEqualTo(8);
        assertThat(joined.get(20, TimeUnit.SECONDS)).isEqualTo(8);
        assertThat(other.get(20, TimeUnit.SECONDS)).isEqualTo(8);
    }

    @Test
    void fullRingsRefuseOneQueryAndNoOtherIsHarmed() throws Exception {
        restart(Machines.orchestrator(1, 1).ringCapacity(2));
        occupy();
        Indexing.BatchQueue<Integer, Integer> queue = doubling();
        Indexing.BatchQueue<Integer, Integer> another = doubling();
        CompletableFuture<Integer> inTheQueue = submit(queue, 1);
        CompletableFuture<Integer> inTheRing = orchestrator.submit((query, context) -> query, 5, id);
        // Whoever joins a queue that a task is on its way for needs no place.
        CompletableFuture<Integer> joins = submit(queue, 2);
        assertThatThrownBy(() -> submit(another, 3))
                .isInstanceOf(RejectedSearchException.class)
                .hasMessageContaining("domain 0");
        assertThatThrownBy(() -> submit(queue, 4)).isInstanceOf(RejectedSearchException.class);
        busyUntil.countDown();
        assertThat(inTheQueue.join()).isEqualTo(2);
        assertThat(joins.join()).isEqualTo(4);
        assertThat(inTheRing.join()).isEqualTo(5);
        assertThat(submit(another, 6).join()).isEqualTo(12);
        assertThat(orchestrator.stats(0).tasks().rejected()).isEqualTo(2);
    }

    @Test
    void aForkThatIsRefusedForOneQueueJoinsNone() throws Exception {
        restart(Machines.orchestrator(1, 1).ringCapacity(1));
        occupy();
        Indexing.BatchQueue<Integer, Integer> queue = doubling();
        Indexing.BatchQueue<Integer, Integer> another = doubling();
        Step.Fork<Integer, Integer, Integer, Integer> both = new Step.Fork<>(
                List.of(),
                List.of(queue, another),
                1,
                (query, results, context) ->
                        Step.done(results.stream().mapToInt(Integer::intValue).sum()));
        CompletableFuture<Integer> first = orchestrator.submit((query, context) -> query, 5, id);
        assertThatThrownBy(() -> orchestrator.indexing().submitFork(both, 0, SubmitOptions.DEFAULT))
                .isInstanceOf(RejectedSearchException.class);
        assertThat(queue.waiting() + another.waiting()).isZero();
        busyUntil.countDown();
        assertThat(first.join()).isEqualTo(5);
        assertThat(submit(queue, 1).join()).isEqualTo(2);
        assertThat(submit(another, 1).join()).isEqualTo(2);
    }

    @Test
    void anInteractiveQueryBehindABatchOneIsServedBeforeBatchWork() throws Exception {
        occupy();
        List<String> order = new CopyOnWriteArrayList<>();
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator.indexing().batchQueue(id, (group, context) -> {
            order.add("group of " + group.size());
            for (int i = 0; i < group.size(); i++) {
                group.answer(i, group.query(i));
            }
            return Step.done(true);
        });
        CompletableFuture<Integer> before = orchestrator.submit(
                (query, context) -> {
                    order.add("batch");
                    return query;
                },
                0,
                id,
                SubmitOptions.BATCH);
        CompletableFuture<Integer> batch = orchestrator.indexing().submitShared(queue, 1, SubmitOptions.BATCH);
        CompletableFuture<Integer> interactive = orchestrator.indexing().submitShared(queue, 2, SubmitOptions.DEFAULT);
        busyUntil.countDown();
        assertThat(interactive.join()).isEqualTo(2);
        assertThat(batch.join()).isEqualTo(1);
        before.join();
        // The batch query shares the pass.
        assertThat(order).containsExactly("group of 2", "batch");
    }

    @Test
    void aGroupMayYieldAndParkAndThoseWhoComeMeanwhileAreServedNext() {
        Pending bytes = new Pending();
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator.indexing().batchQueue(id, (group, context) -> {
            groups.add(group.size());
            return new Step.Yield<>((same, next) -> new Step.Park<>(bytes, (again, last) -> {
                for (int i = 0; i < again.size(); i++) {
                    again.answer(i, again.query(i));
                }
                return Step.done(true);
            }));
        });
        List<CompletableFuture<Integer>> answers = new ArrayList<>();
        answers.add(submit(queue, 0));
        while (Inside.pool(orchestrator).parked() == 0) {
            Thread.onSpinWait();
        }
        Indexing.BatchQueue<Integer, Integer> other = doubling();
        assertThat(submit(other, 4).join()).isEqualTo(8);
        assertThat(answers.getFirst()).isNotDone();
        bytes.complete();
        assertThat(answers.getFirst().join()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void queriesThatNobodyNeedsHoldNoPlaces(boolean cancelled) throws Exception {
        restart(Machines.orchestrator(1, 1).ringCapacity(4).groupRule(GroupRule.ALONE));
        occupy();
        Indexing.BatchQueue<Integer, Integer> queue = doubling();
        SubmitOptions options =
                cancelled ? SubmitOptions.DEFAULT : SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(20));
        for (int i = 0; i < 4; i++) {
            CompletableFuture<Integer> query = orchestrator.indexing().submitShared(queue, i, options);
            if (cancelled) {
                query.cancel(false);
            } else {
                assertThat(query).failsWithin(Duration.ofSeconds(20));
            }
        }
        List<CompletableFuture<Integer>> others = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int query = i;
            Await.until(() -> accepts(queue, query, others));
        }
        busyUntil.countDown();
        for (int i = 0; i < 4; i++) {
            assertThat(others.get(i).get(20, TimeUnit.SECONDS)).isEqualTo(2 * i);
        }
    }

    private boolean accepts(
            Indexing.BatchQueue<Integer, Integer> queue, int query, List<CompletableFuture<Integer>> accepted) {
        try {
            accepted.add(submit(queue, query));
            return true;
        } catch (RejectedSearchException full) {
            return false;
        }
    }

    /** The callback of the search before runs on the worker until the deadline has passed. */
    @Test
    void noQueryBeginsAfterItsDeadlineBehindACallback() throws Exception {
        Indexing.BatchQueue<Integer, Integer> queue = doubling();
        CountDownLatch attached = new CountDownLatch(1);
        CountDownLatch submitted = new CountDownLatch(1);
        CompletableFuture<Integer> before = orchestrator.submit(
                (query, context) -> {
                    attached.await();
                    return query;
                },
                1,
                id);
        CompletableFuture<Void> callback = before.thenRun(() -> {
            try {
                submitted.await();
                TimeUnit.MILLISECONDS.sleep(2);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        });
        attached.countDown();
        CompletableFuture<Integer> late =
                orchestrator.indexing().submitShared(queue, 1, SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(1)));
        submitted.countDown();
        assertThat(late).failsWithin(Duration.ofSeconds(20));
        callback.join();
        assertThat(groups).isEmpty();
    }

    @Test
    void manyThreadsAndQueuesLoseNoQuery() throws Exception {
        restart(Machines.orchestrator(2, 2));
        Indexing.BatchQueue<Integer, Integer> one = doubling();
        Indexing.BatchQueue<Integer, Integer> two = doubling();
        List<Thread> threads = new ArrayList<>();
        List<Throwable> wrong = new CopyOnWriteArrayList<>();
        for (int t = 0; t < 4; t++) {
            int seed = t;
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 3_000; i++) {
                    try {
                        SubmitOptions options = i % 7 == 0 ? SubmitOptions.BATCH : SubmitOptions.DEFAULT;
                        CompletableFuture<Integer> answer =
                                orchestrator.indexing().submitShared((i + seed) % 3 == 0 ? one : two, i, options);
                        if (i % 5 == 0) {
                            answer.cancel(false);
                        } else {
                            assertThat(answer.get(20, TimeUnit.SECONDS)).isEqualTo(2 * i);
                        }
                    } catch (Throwable e) {
                        wrong.add(e);
                        return;
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(wrong).isEmpty();
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(one.waiting() + two.waiting()).isZero();
    }
}
