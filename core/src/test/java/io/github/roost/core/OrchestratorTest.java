package io.github.roost.core;

import static io.github.roost.core.BlockedWorkers.DOUBLE;
import static io.github.roost.core.BlockedWorkers.FOREVER;
import static io.github.roost.core.BlockedWorkers.await;
import static io.github.roost.core.BlockedWorkers.blocking;
import static io.github.roost.core.BlockedWorkers.parts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrchestratorTest {
    @Test
    void aSearchRunsOnAWorkerOfItsHomeDomain() {
        // On a loaded machine a home whose threads get no core looks like one that is busy.
        try (Orchestrator orchestrator = Machines.orchestrator(4, 2)
                .crossDomainGate(new CrossDomainGate(Long.MAX_VALUE))
                .build()) {
            for (int table = 0; table < 8; table++) {
                MappingId id = orchestrator.register("table-" + table).id();
                int home = orchestrator.homes(id).getFirst();
                int domain = orchestrator
                        .submit((query, context) -> context.domain(), 0, id)
                        .join();
                assertThat(domain).isEqualTo(home);
            }
        }
    }

    @Test
    void aThreadCanAskWhetherItIsAWorker() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
                Orchestrator other = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            assertThat(orchestrator.indexing().calledOnWorker()).isFalse();
            assertThat(orchestrator
                            .submit((query, context) -> query.indexing().calledOnWorker(), orchestrator, id)
                            .join())
                    .isTrue();
            assertThat(orchestrator
                            .submit((query, context) -> query.indexing().calledOnWorker(), other, id)
                            .join())
                    .isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ROUND_ROBIN,1,2",
        "WORK_STEALING,1,2",
        "HOME_DOMAIN,1,2",
        "ROUND_ROBIN,12,8",
        "WORK_STEALING,12,8",
        "HOME_DOMAIN,12,8",
        "HOME_DOMAIN,1,1",
        "HOME_DOMAIN,2,1"
    })
    void everySubmittedTaskCompletesExactlyOnce(SchedulingPolicy scheduling, int domains, int cores) throws Exception {
        int tasks = 20_000;
        int submitters = 4;
        AtomicIntegerArray runs = new AtomicIntegerArray(tasks);
        AtomicInteger completions = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(domains, cores)
                .scheduling(scheduling)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                .ringCapacity(64)
                .build()) {
            Registration table = orchestrator.register("table", 16);
            List<CompletableFuture<Integer>> futures = new ArrayList<>();
            for (int i = 0; i < tasks; i++) {
                futures.add(null);
            }
            List<Thread> threads = new ArrayList<>();
            for (int submitter = 0; submitter < submitters; submitter++) {
                int first = submitter;
                threads.add(Thread.ofVirtual().start(() -> {
                    for (int task = first; task < tasks; task += submitters) {
                        CompletableFuture<Integer> future = orchestrator.submit(
                                (Integer query, SearchContext context) -> {
                                    context.touched(1, 100);
                                    return runs.incrementAndGet(query);
                                },
                                task,
                                table.id(task % 3 == 0 ? 0 : task % 16));
                        futures.set(task, future);
                        var _ = future.thenRun(completions::incrementAndGet);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            for (CompletableFuture<Integer> future : futures) {
                assertThat(future.get(30, TimeUnit.SECONDS)).isEqualTo(1);
            }
            OrchestratorStats stats = orchestrator.stats();
            assertThat(stats.tasks().completed()).isEqualTo(tasks);
            assertThat(stats.tables().getFirst().searches()).isEqualTo(tasks);
            assertThat(stats.tables().getFirst().trafficBytes()).isEqualTo(100L * tasks);
        }
        assertThat(completions).hasValue(tasks);
    }

    @ParameterizedTest
    @EnumSource(SchedulingPolicy.class)
    void aFanOutMergesItsPartsInOrder(SchedulingPolicy scheduling) {
        try (Orchestrator orchestrator =
                Machines.orchestrator(3, 2).scheduling(scheduling).build()) {
            Registration table = orchestrator.register("table", 10);
            for (int round = 0; round < 500; round++) {
                assertThat(orchestrator
                                .fanOut(parts(table, DOUBLE), results -> List.copyOf(results))
                                .join())
                        .containsExactly(0, 2, 4, 6, 8, 10, 12, 14, 16, 18);
            }
        }
    }

    @Test
    void aSearchThatThrowsFailsOnlyItsOwnFuture() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            for (Throwable failure :
                    List.of(new IllegalStateException("no"), new Exception("checked"), new AssertionError("error"))) {
                CompletableFuture<Integer> failing = orchestrator.submit(
                        (query, context) -> {
                            throw sneaky(failure);
                        },
                        1,
                        id);
                CompletableFuture<Integer> good = orchestrator.submit(DOUBLE, 21, id);
                assertThatThrownBy(failing::join)
                        .isInstanceOf(CompletionException.class)
                        .hasCause(failure);
                assertThat(good.join()).isEqualTo(42);
            }
            assertThat(orchestrator.stats().tasks().failed()).isEqualTo(3);
            assertThat(orchestrator.stats().broken()).isFalse();
        }
    }

    @Test
    void aStackOverflowFailsOnlyItsOwnFuture() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            assertThatThrownBy(() -> orchestrator
                            .submit((query, context) -> recurse(query), 1, id)
                            .join())
                    .hasCauseInstanceOf(StackOverflowError.class);
            assertThat(orchestrator.submit(DOUBLE, 21, id).join()).isEqualTo(42);
        }
    }

    @Test
    void searchesAreAnsweredByBatchWorkWhoseStackEnds() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            for (int i = 0; i < 100; i++) {
                AtomicBoolean deep = new AtomicBoolean();
                CompletableFuture<Integer> batch = orchestrator.submit(
                        (query, context) -> yieldAndRecurse(orchestrator, deep, query), 1, id, SubmitOptions.BATCH);
                List<CompletableFuture<Integer>> searches = new ArrayList<>();
                while (!batch.isDone()) {
                    if (deep.get() && (searches.isEmpty() || searches.getLast().isDone())) {
                        searches.add(orchestrator.submit(DOUBLE, 21, id));
                    }
                }
                assertThatThrownBy(batch::join).hasCauseInstanceOf(StackOverflowError.class);
                assertThat(searches)
                        .allSatisfy(search ->
                                assertThat(search.get(20, TimeUnit.SECONDS)).isEqualTo(42));
            }
            assertThat(orchestrator.stats().broken()).isFalse();
        }
    }

    private static int yieldAndRecurse(Orchestrator orchestrator, AtomicBoolean deep, int depth) {
        if (depth > 1_000) {
            deep.setOpaque(true);
            orchestrator.indexing().yieldToSearches();
        }
        return depth == 0 ? 0 : yieldAndRecurse(orchestrator, deep, depth + 1) + 1;
    }

    private static int recurse(int depth) {
        return depth == 0 ? 0 : recurse(depth + 1) + 1;
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneaky(Throwable failure) throws E {
        throw (E) failure;
    }

    @Test
    void aWorkerGoesOnUnpinnedWhereItsPinnerThrows() {
        AtomicInteger requested = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .pinner(core -> {
                    requested.incrementAndGet();
                    throw new IllegalStateException("no core " + core.id());
                })
                .build()) {
            MappingId id = orchestrator.register("table").id();
            assertThat(orchestrator
                            .submit(DOUBLE, 21, id)
                            .orTimeout(10, TimeUnit.SECONDS)
                            .join())
                    .isEqualTo(42);
            OrchestratorStats stats = orchestrator.stats();
            assertThat(stats.broken()).isFalse();
            assertThat(stats.workers().getFirst().pin())
                    .isNotNull()
                    .satisfies(pin -> assertThat(pin.pinned()).isFalse())
                    .satisfies(pin -> assertThat(pin.reason()).contains("no core 0"));
        }
        assertThat(requested).hasValue(1);
    }

    @Test
    void aWorkerAsksAnIdleStrategyThatThrowsNoMore() {
        AtomicInteger requested = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .idleStrategy(looks -> {
                    requested.incrementAndGet();
                    throw new IllegalStateException("no idea");
                })
                .build()) {
            MappingId id = orchestrator.register("table").id();
            for (int i = 0; i < 100; i++) {
                assertThat(orchestrator.submit(DOUBLE, i, id).join()).isEqualTo(2 * i);
            }
            assertThat(orchestrator.stats().broken()).isFalse();
        }
        assertThat(requested).hasValue(1);
    }

    @Test
    void aMergerThatThrowsFailsItsFanOut() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1).build()) {
            Registration table = orchestrator.register("table", 4);
            assertThatThrownBy(() -> orchestrator
                            .fanOut(parts(table, DOUBLE), results -> {
                                throw new IllegalStateException("no merge");
                            })
                            .join())
                    .hasCauseInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no merge");
        }
    }

    @Test
    void aPartThatThrowsFailsItsFanOutAndLeavesNothingBehind() {
        Orchestrator orchestrator = Machines.orchestrator(2, 1).build();
        Registration table = orchestrator.register("table", 4);
        assertThatThrownBy(() -> orchestrator
                        .fanOut(
                                parts(table, (query, context) -> {
                                    throw new IllegalStateException("part " + query);
                                }),
                                results -> results)
                        .join())
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThat(orchestrator.close(Duration.ofSeconds(10))).isTrue();
        OrchestratorStats.TaskCounts tasks = orchestrator.stats().tasks();
        assertThat(tasks.failed() + tasks.cancelled()).isEqualTo(4);
    }

    @Test
    void aFanOutThatIsOverKeepsNeitherItsQueriesNorItsPartsResults() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            List<WeakReference<Object>> gone = new ArrayList<>();
            CompletableFuture<Integer> merged = fanOutOfObjects(orchestrator, id, gone);
            assertThat(merged.join()).isEqualTo(2);
            // The worker's own stack may still hold what it ran last.
            orchestrator.submit(DOUBLE, 1, id).join();
            for (int tries = 0; tries < 100 && gone.stream().anyMatch(object -> object.get() != null); tries++) {
                System.gc();
            }
            assertThat(gone)
                    .hasSize(4)
                    .allSatisfy(object -> assertThat(object.get()).isNull());
            assertThat(merged).isCompletedWithValue(2);
        }
    }

    private static CompletableFuture<Integer> fanOutOfObjects(
            Orchestrator orchestrator, MappingId id, List<WeakReference<Object>> seen) {
        SearchFunction<Object, Object> search = (query, context) -> {
            Object result = new Object();
            seen.add(new WeakReference<>(query));
            seen.add(new WeakReference<>(result));
            return result;
        };
        return orchestrator.fanOut(
                List.of(new Part<>(search, new Object(), id), new Part<>(search, new Object(), id)), List::size);
    }

    @Test
    void aPartThatEndsAfterItsFanOutWasCancelledIsCountedAsCancelled() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        for (SearchFunction<Integer, Integer> ending :
                List.<SearchFunction<Integer, Integer>>of(DOUBLE, (query, context) -> {
                    throw new IllegalStateException("too late");
                })) {
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            SearchFunction<Integer, Integer> search = (query, context) -> {
                blocking(started, release).search(query, context);
                return ending.search(query, context);
            };
            CompletableFuture<Integer> fanOut = orchestrator.fanOut(List.of(new Part<>(search, 1, id)), List::size);
            await(started);
            fanOut.cancel(false);
            release.countDown();
        }
        assertThat(orchestrator.close(Duration.ofSeconds(10))).isTrue();
        assertThat(orchestrator.stats().tasks().cancelled()).isEqualTo(2);
    }

    @Test
    void aTaskPastItsDeadlineNeverStarts() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            AtomicInteger ran = new AtomicInteger();
            CompletableFuture<Integer> late = orchestrator.submit(
                    (query, context) -> ran.incrementAndGet(),
                    0,
                    id,
                    SubmitOptions.DEFAULT.withTimeout(Duration.ofNanos(1)));
            release.countDown();
            assertThatThrownBy(late::join).hasCauseInstanceOf(DeadlineExceededException.class);
            assertThat(ran).hasValue(0);
            assertThat(orchestrator.stats().tasks().expired()).isEqualTo(1);
        }
    }

    @Test
    void aTaskPastItsDeadlineNeverStartsBehindWhatFollowsAnother() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            CompletableFuture<Integer> first = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            Duration timeout = Duration.ofMillis(20);
            AtomicInteger ran = new AtomicInteger();
            CompletableFuture<Integer> late = orchestrator.submit(
                    (query, context) -> ran.incrementAndGet(), 0, id, SubmitOptions.DEFAULT.withTimeout(timeout));
            long deadline = System.nanoTime() + timeout.toNanos();
            var _ = first.thenRun(() -> {
                while (System.nanoTime() - deadline <= 0) {
                    Thread.onSpinWait();
                }
            });
            release.countDown();
            assertThatThrownBy(late::join).hasCauseInstanceOf(DeadlineExceededException.class);
            assertThat(ran).hasValue(0);
        }
    }

    @Test
    void aDeadlineMayBeAsFarAwayAsItLikes() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        Registration table = orchestrator.register("table", 10);
        SubmitOptions options = SubmitOptions.DEFAULT.withTimeout(FOREVER);
        assertThat(orchestrator.submit(DOUBLE, 1, table.id(0), options).join()).isEqualTo(2);
        assertThat(orchestrator
                        .fanOut(parts(table, DOUBLE), results -> results.size(), options)
                        .join())
                .isEqualTo(10);
        assertThat(orchestrator.close(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void aCancelledTaskNeverStartsAndARunningSearchCanAsk() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch sawIt = new CountDownLatch(1);
            CompletableFuture<Integer> running = orchestrator.submit(
                    (query, context) -> {
                        started.countDown();
                        while (!context.expired()) {
                            Thread.onSpinWait();
                        }
                        sawIt.countDown();
                        return 1;
                    },
                    0,
                    id);
            await(started);
            AtomicInteger ran = new AtomicInteger();
            CompletableFuture<Integer> queued = orchestrator.submit((query, context) -> ran.incrementAndGet(), 0, id);
            assertThat(queued.cancel(false)).isTrue();
            assertThat(running.cancel(false)).isTrue();
            await(sawIt);
            assertThat(orchestrator.submit(DOUBLE, 1, id).join()).isEqualTo(2);
            assertThat(ran).hasValue(0);
            assertThat(orchestrator.stats().tasks().cancelled()).isEqualTo(2);
        }
    }

    @Test
    void interactiveTasksGoFirstAndBatchTasksAreNotStarved() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            List<String> order = new ArrayList<>();
            List<CompletableFuture<Boolean>> all = new ArrayList<>();
            all.add(orchestrator.submit((query, context) -> order.add(query), "batch", id, SubmitOptions.BATCH));
            for (int i = 0; i < 200; i++) {
                all.add(orchestrator.submit((query, context) -> order.add(query), "interactive", id));
            }
            release.countDown();
            all.forEach(CompletableFuture::join);
            assertThat(order.indexOf("batch")).isBetween(10, 100);
        }
    }

    @Test
    void nestedSubmitsDoNotDeadlockOnOneWorker() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            Registration table = orchestrator.register("table", 4);
            int result = orchestrator
                    .submit(
                            (query, context) -> {
                                int sum = orchestrator
                                        .submit(DOUBLE, query, table.id(0))
                                        .join();
                                sum += orchestrator
                                        .submit(DOUBLE, query, table.id(1))
                                        .thenApply(value -> value + 1)
                                        .get();
                                for (int value : orchestrator
                                        .fanOut(parts(table, DOUBLE), results -> List.copyOf(results))
                                        .get(10, TimeUnit.SECONDS)) {
                                    sum += value;
                                }
                                return sum;
                            },
                            10,
                            table.id(0))
                    .join();
            assertThat(result).isEqualTo(20 + 21 + 12);
        }
    }

    @Test
    void anInterruptDoesNotKeepASearchFromWhatFollowsANestedOne() throws Exception {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        CompletableFuture<Integer> outer = orchestrator.submit(
                (query, context) -> {
                    Thread.currentThread().interrupt();
                    int value = orchestrator
                            .submit(DOUBLE, query, id)
                            .thenApply(nested -> nested + 1)
                            .join();
                    return Thread.interrupted() ? value : -1;
                },
                10,
                id);
        try {
            assertThat(outer.get(10, TimeUnit.SECONDS)).isEqualTo(21);
        } finally {
            orchestrator.close(Duration.ofSeconds(1));
        }
    }
}
