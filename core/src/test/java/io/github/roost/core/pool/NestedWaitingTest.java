package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.spi.CompletionSource;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches, on one worker, that wait for others. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NestedWaitingTest {
    /** Searches in the midst of each other: those that may be anybody's, with a child each, and some to spare. */
    private static final int MAX_DEPTH = 32;

    private final Orchestrator orchestrator =
            Machines.orchestrator(1, 1).ringCapacity(1 << 14).build();
    private final MappingId id = orchestrator.register("table").id();
    private final ExecutorService executor = orchestrator.executor(id);
    private final ThreadLocal<Integer> depth = ThreadLocal.withInitial(() -> 0);
    private final AtomicInteger deepest = new AtomicInteger();

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    private <T> T deeper(Callable<T> call) throws Exception {
        depth.set(depth.get() + 1);
        deepest.accumulateAndGet(depth.get(), Math::max);
        try {
            return call.call();
        } finally {
            depth.set(depth.get() - 1);
        }
    }

    private <T> CompletableFuture<T> submit(Callable<T> call) {
        SearchFunction<Integer, T> search = (query, context) -> deeper(call);
        return orchestrator.submit(search, 0, id);
    }

    @Test
    void aSearchThatSubmitsAndJoinsMoreThanARingHoldsIsNotRefused() {
        try (Orchestrator small = Machines.orchestrator(1, 1).ringCapacity(4).build()) {
            MappingId table = small.register("small").id();
            SearchFunction<Integer, Integer> twice = (query, context) -> 2 * query;
            SearchFunction<Integer, Integer> sum = (count, context) -> IntStream.range(0, count)
                    .map(i -> small.submit(twice, i, table).join())
                    .sum();
            assertThat(small.submit(sum, 1_000, table).join()).isEqualTo(999_000);
        }
    }

    @Test
    void thousandsOfSearchesThatEachJoinWhatFollowsAnotherAllCompleteInBoundedDepth() {
        List<CompletableFuture<Integer>> answers = IntStream.range(0, 5_000)
                .mapToObj(i -> submit(
                        () -> submit(() -> i).thenApply(found -> found + 1).join()))
                .toList();
        for (int i = 0; i < answers.size(); i++) {
            assertThat(answers.get(i).join()).isEqualTo(i + 1);
        }
        assertThat(deepest.get()).isLessThanOrEqualTo(MAX_DEPTH);
    }

    @Tag("stress")
    @Test
    void hundredsOfSearchesThatWaitForAFutureOfNobodysDoSoInBoundedDepth() {
        CompletableFuture<Integer> common = orchestrator.indexing().newFuture();
        List<CompletableFuture<Integer>> answers =
                IntStream.range(0, 200).mapToObj(i -> submit(common::join)).toList();
        CompletableFuture<Boolean> last = submit(() -> common.complete(23));
        assertThat(last.join()).isTrue();
        assertThat(answers).allSatisfy(answer -> assertThat(answer.join()).isEqualTo(23));
        assertThat(deepest.get()).isLessThanOrEqualTo(MAX_DEPTH);
        assertThat(Inside.pool(orchestrator).blockedThreads()).isLessThanOrEqualTo(Watch.MAX_BLOCKED);
    }

    @Test
    void manySearchesOfSeveralStepsThatWaitInALaterStepDoSoInBoundedDepth() {
        CompletableFuture<Integer> common = orchestrator.indexing().newFuture();
        List<Pending> bytes =
                IntStream.range(0, 200).mapToObj(i -> new Pending()).toList();
        List<CompletableFuture<Integer>> answers = bytes.stream()
                .map(pending -> {
                    Search<Integer, Integer> search = (query, context) ->
                            new Step.Park<>(pending, (same, later) -> Step.done(deeper(common::join)));
                    return orchestrator.indexing().submitSteps(search, 0, id, SubmitOptions.DEFAULT);
                })
                .toList();
        while (Inside.pool(orchestrator).parked() < 200) {
            Thread.onSpinWait();
        }
        bytes.forEach(Pending::complete);
        assertThat(submit(() -> common.complete(23)).join()).isTrue();
        assertThat(answers).allSatisfy(answer -> assertThat(answer.join()).isEqualTo(23));
        assertThat(deepest.get()).isLessThanOrEqualTo(MAX_DEPTH);
    }

    @Test
    void aSearchMayWaitInAnyWayForWhatItHasSubmitted() throws Exception {
        CompletableFuture<Integer> inner = submit(() -> {
            CompletableFuture<Integer> plain = new CompletableFuture<>();
            CompletableFuture<Boolean> completes = submit(() -> plain.complete(1));
            int sum = plain.join();
            CountDownLatch latch = new CountDownLatch(1);
            CompletableFuture<Integer> counts = submit(() -> {
                latch.countDown();
                return 2;
            });
            latch.await();
            Semaphore semaphore = new Semaphore(0);
            CompletableFuture<Integer> releases = submit(() -> {
                semaphore.release();
                return 4;
            });
            semaphore.acquire();
            Phaser phaser = new Phaser(1);
            CompletableFuture<Integer> arrives = submit(phaser::arrive);
            phaser.awaitAdvance(0);
            return sum + counts.join() + releases.join() + arrives.join() + (completes.join() ? 8 : 0);
        });
        assertThat(inner.get(30, TimeUnit.SECONDS)).isEqualTo(15);
    }

    @Test
    void aSearchMayBlockForAnEarlierChildAfterItHasHelpedALaterOne() throws Exception {
        CompletableFuture<Integer> outer = submit(() -> {
            CompletableFuture<Integer> plain = new CompletableFuture<>();
            var _ = submit(() -> plain.complete(1)).thenApply(done -> done);
            int helped = submit(() -> 2).join();
            return helped + plain.join();
        });
        assertThat(outer.get(30, TimeUnit.SECONDS)).isEqualTo(3);
    }

    @Test
    void aWaitThatTimesOutLeavesBatchWorkToRun() throws Exception {
        CompletableFuture<Integer> never = orchestrator.indexing().newFuture();
        CompletableFuture<Boolean> waits = submit(() -> {
            try {
                never.get(1, TimeUnit.MILLISECONDS);
                return false;
            } catch (TimeoutException e) {
                return true;
            }
        });
        assertThat(waits.join()).isTrue();
        assertThat(orchestrator
                        .submit((query, context) -> query, 7, id, SubmitOptions.BATCH)
                        .get(20, TimeUnit.SECONDS))
                .isEqualTo(7);
    }

    @Test
    void aWaitTimesOutWhileThereIsAlwaysAnotherTaskToHelpWith() throws Exception {
        CompletableFuture<Integer> never = orchestrator.indexing().newFuture();
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Boolean> waits = submit(() -> {
            try {
                never.get(1, TimeUnit.MILLISECONDS);
                return false;
            } catch (TimeoutException e) {
                return true;
            } finally {
                over.set(true);
            }
        });
        submitAgainUntil(over);
        assertThat(waits.get(20, TimeUnit.SECONDS)).isTrue();
    }

    private Integer submitAgainUntil(AtomicBoolean over) {
        if (!over.get()) {
            var _ = submit(() -> submitAgainUntil(over));
        }
        return 0;
    }

    @Test
    void relievedWorkersForgetTheirThreadsAndCountOn() throws Exception {
        for (int i = 0; i < 50; i++) {
            CompletableFuture<Integer> outer = submit(() -> {
                CompletableFuture<Integer> plain = new CompletableFuture<>();
                var _ = submit(() -> plain.complete(1)).thenApply(done -> done);
                return plain.join();
            });
            assertThat(outer.get(20, TimeUnit.SECONDS)).isEqualTo(1);
        }
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        while (Inside.pool(orchestrator).blockedThreads() > 0) {
            Thread.onSpinWait();
        }
        assertThat(orchestrator.stats(0).tasks().completed()).isEqualTo(100);
    }

    @Test
    void aSourceOfAWorkerIsStillLookedAtWhileItsThreadIsBlocked() throws Exception {
        Reads reads = new Reads();
        AtomicInteger opened = new AtomicInteger();
        orchestrator.indexing().addCompletionSource((worker, waker) -> {
            opened.incrementAndGet();
            return reads;
        });
        CompletableFuture<Integer> outer = submit(() -> {
            CompletableFuture<Integer> plain = new CompletableFuture<>();
            var _ = orchestrator
                    .indexing()
                    .submitSteps(reads.search(), 5, id, SubmitOptions.DEFAULT)
                    .thenAccept(plain::complete);
            return plain.join();
        });
        assertThat(outer.get(30, TimeUnit.SECONDS)).isEqualTo(5);
        assertThat(opened).hasValue(1);
    }

    /** Completes pending reads when it is polled, once as many as expected have arrived. */
    private static final class Reads implements CompletionSource {
        private final ConcurrentLinkedQueue<Pending> arrived = new ConcurrentLinkedQueue<>();
        private volatile int expected = 1;

        @Override
        public int poll() {
            if (arrived.size() < expected) {
                return 0;
            }
            int count = 0;
            for (Pending pending = arrived.poll(); pending != null; pending = arrived.poll()) {
                pending.complete();
                count++;
            }
            return count;
        }

        @Override
        public boolean arm() {
            return arrived.size() < expected;
        }

        /** A search that waits for a read. */
        Search<Integer, Integer> search() {
            return (query, context) -> {
                Pending pending = new Pending();
                arrived.add(pending);
                return new Step.Park<>(pending, (same, later) -> Step.done(query));
            };
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 8, 9, 20})
    void searchesThatWaitForReadsInTheMidstOfEachOtherSeeThemArrive(int searches) throws Exception {
        Reads reads = new Reads();
        reads.expected = searches;
        orchestrator.indexing().addCompletionSource((worker, waker) -> reads);
        CountDownLatch allQueued = new CountDownLatch(1);
        CompletableFuture<Boolean> first = submit(() -> {
            allQueued.await();
            return true;
        });
        List<CompletableFuture<Integer>> outer = IntStream.range(0, searches)
                .mapToObj(i -> submit(() -> orchestrator
                        .indexing()
                        .submitSteps(reads.search(), i, id, SubmitOptions.DEFAULT)
                        .join()))
                .toList();
        allQueued.countDown();
        assertThat(first.join()).isTrue();
        for (int i = 0; i < searches; i++) {
            assertThat(outer.get(i).get(30, TimeUnit.SECONDS)).isEqualTo(i);
        }
    }

    @Test
    void aParkedSearchGoesOnWhileTheThreadOfItsWorkerIsBlockedAndNothingElseWaits() throws Exception {
        Reads reads = new Reads();
        reads.expected = 2;
        orchestrator.indexing().addCompletionSource((worker, waker) -> reads);
        CompletableFuture<Integer> outer = submit(() -> {
            CompletableFuture<Integer> parked = orchestrator.indexing().newFuture();
            CompletableFuture<Integer> plain = new CompletableFuture<>();
            Search<Integer, Integer> search = reads.search();
            var _ = orchestrator
                    .indexing()
                    .submitSteps(
                            (query, context) -> {
                                parked.complete(1);
                                return search.step(query, context);
                            },
                            5,
                            id,
                            SubmitOptions.DEFAULT)
                    .thenAccept(plain::complete);
            parked.join();
            reads.expected = 1;
            return plain.join();
        });
        assertThat(outer.get(30, TimeUnit.SECONDS)).isEqualTo(5);
    }

    @Test
    void aSearchMayWaitForMaintenance() throws Exception {
        AtomicInteger steps = new AtomicInteger();
        CompletableFuture<Boolean> joins = submit(() -> {
            orchestrator
                    .indexing()
                    .maintenance(id, context -> steps.incrementAndGet() < 10)
                    .join();
            return true;
        });
        assertThat(joins.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(steps).hasValue(10);
        CompletableFuture<Boolean> blocks = submit(() -> {
            CompletableFuture<Boolean> plain = new CompletableFuture<>();
            var _ = orchestrator
                    .indexing()
                    .maintenance(id, context -> steps.incrementAndGet() < 20)
                    .thenRun(() -> plain.complete(true));
            return plain.join();
        });
        assertThat(blocks.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(steps).hasValue(20);
    }

    // ---- The executor view, inside a task.

    private <T> T inside(Callable<T> call) throws Exception {
        return executor.submit(call).get(30, TimeUnit.SECONDS);
    }

    private static List<Callable<Integer>> calls(int count) {
        return IntStream.range(0, count)
                .<Callable<Integer>>mapToObj(i -> () -> i)
                .toList();
    }

    @Test
    void invokeAnyWorksInsideATask() throws Exception {
        assertThat(inside(() -> executor.invokeAny(calls(20)))).isBetween(0, 19);
        assertThat(inside(() -> executor.invokeAny(calls(1), 10, TimeUnit.SECONDS)))
                .isZero();
        Callable<Integer> fails = () -> {
            throw new IllegalStateException("a call that fails");
        };
        assertThat(inside(() -> executor.invokeAny(List.of(fails, () -> 3)))).isEqualTo(3);
        assertThatThrownBy(() -> inside(() -> executor.invokeAny(List.of(fails, fails))))
                .isInstanceOf(ExecutionException.class)
                .hasRootCauseMessage("a call that fails");
        assertThatThrownBy(() -> inside(() -> executor.invokeAny(List.of())))
                .hasCauseInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void invokeAnyTimesOutInsideATaskWhereNoneSucceeds() {
        CountDownLatch never = new CountDownLatch(1);
        Callable<Integer> waits = () -> {
            never.await();
            return 1;
        };
        assertThatThrownBy(() -> inside(() -> executor.invokeAny(List.of(waits, waits), 5, TimeUnit.MILLISECONDS)))
                .hasCauseInstanceOf(TimeoutException.class);
        never.countDown();
    }

    @Test
    void invokeAllWorksInsideATask() throws Exception {
        assertThat(inside(() -> {
                    int sum = 0;
                    for (Future<Integer> future : executor.invokeAll(calls(20))) {
                        sum += future.get();
                    }
                    return sum;
                }))
                .isEqualTo(190);
    }

    @Test
    void anExecutorMayBeClosedInsideATaskAndItsEndAwaited() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        assertThat(inside(() -> {
                    try (ExecutorService other = orchestrator.executor(id)) {
                        for (int i = 0; i < 20; i++) {
                            other.execute(ran::incrementAndGet);
                        }
                    }
                    return ran.get();
                }))
                .isEqualTo(20);
        assertThat(inside(() -> {
                    ExecutorService other = orchestrator.executor(id);
                    other.execute(ran::incrementAndGet);
                    other.shutdown();
                    return other.awaitTermination(20, TimeUnit.SECONDS);
                }))
                .isTrue();
        assertThat(ran).hasValue(21);
    }

    @Test
    void theEndOfAnExecutorWhoseTasksOthersSubmittedMayBeAwaitedInsideATask() throws Exception {
        ExecutorService other = orchestrator.executor(id);
        CountDownLatch queued = new CountDownLatch(1);
        Future<Boolean> awaits = executor.submit(() -> {
            queued.await();
            return other.awaitTermination(20, TimeUnit.SECONDS);
        });
        AtomicInteger ran = new AtomicInteger();
        other.execute(ran::incrementAndGet);
        other.shutdown();
        queued.countDown();
        assertThat(awaits.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).hasValue(1);
    }

    @Test
    void awaitingTheEndOfAnExecutorInsideATaskTimesOutAndCanBeInterrupted() throws Exception {
        ExecutorService other = orchestrator.executor(id);
        assertThat(inside(() -> other.awaitTermination(1, TimeUnit.MILLISECONDS)))
                .isFalse();
        assertThatThrownBy(() -> inside(() -> {
                    Thread.currentThread().interrupt();
                    return other.awaitTermination(20, TimeUnit.SECONDS);
                }))
                .hasCauseInstanceOf(InterruptedException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void plainFuturesOfTheExecutorMayBeJoinedInsideATask(int count) throws Exception {
        assertThat(inside(() -> {
                    List<CompletableFuture<Integer>> all = new ArrayList<>();
                    for (int i = 0; i < count; i++) {
                        all.add(CompletableFuture.supplyAsync(() -> 1, executor));
                    }
                    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                            .join();
                    return CompletableFuture.supplyAsync(
                                    () -> all.stream()
                                            .mapToInt(CompletableFuture::join)
                                            .sum(),
                                    executor)
                            .join();
                }))
                .isEqualTo(count);
    }

    /** Spare threads still have theirs. */
    @Test
    void aWorkerThatWasHandedOverOftenKeepsFewOfItsRunners() throws Exception {
        List<WeakReference<Runner>> runners = new ArrayList<>();
        for (int wait = 0; wait < 200; wait++) {
            CompletableFuture<Integer> answer = orchestrator.indexing().newFuture();
            CountDownLatch waits = new CountDownLatch(1);
            CompletableFuture<Integer> search = orchestrator.submit(
                    (query, context) -> {
                        runners.add(new WeakReference<>(((WorkerThread) Thread.currentThread()).runner()));
                        waits.countDown();
                        return answer.join();
                    },
                    1,
                    id);
            waits.await();
            WorkerPool pool = Inside.pool(orchestrator);
            Runner before = runners.getLast().get();
            while (before != null && pool.worker(0).isRunBy(before)) {
                Thread.onSpinWait();
            }
            answer.complete(wait);
            assertThat(search.join()).isEqualTo(wait);
        }
        long kept = runners.size();
        while (kept > 20) {
            System.gc();
            kept = runners.stream().filter(runner -> runner.get() != null).count();
        }
        assertThat(kept).isLessThanOrEqualTo(20);
    }
}
