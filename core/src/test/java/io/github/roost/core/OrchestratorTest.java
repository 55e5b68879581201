package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.dispatch.SchedulingPolicy;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.Part;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.core.task.TableClosedException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrchestratorTest {
    private static final SearchFunction<Integer, Integer> DOUBLE = (query, context) -> 2 * query;
    private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    @Test
    void aSearchRunsOnAWorkerOfItsHomeDomain() {
        try (Orchestrator orchestrator = Machines.orchestrator(4, 2).build()) {
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
            assertThat(orchestrator.calledOnWorker()).isFalse();
            assertThat(orchestrator
                            .submit((query, context) -> query.calledOnWorker(), orchestrator, id)
                            .join())
                    .isTrue();
            assertThat(orchestrator
                            .submit((query, context) -> query.calledOnWorker(), other, id)
                            .join())
                    .isFalse();
        }
    }

    @Test
    void newTablesSpreadOverTheDomains() {
        try (Orchestrator orchestrator = Machines.orchestrator(4, 1).build()) {
            List<MappingId> ids = IntStream.range(0, 8)
                    .mapToObj(i -> orchestrator.register("t" + i).id())
                    .toList();
            assertThat(ids.stream().map(id -> orchestrator.homes(id).getFirst()))
                    .containsExactlyInAnyOrder(0, 0, 1, 1, 2, 2, 3, 3);
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

    private static List<Part<Integer, Integer>> parts(Registration table, SearchFunction<Integer, Integer> function) {
        return IntStream.range(0, table.clusters())
                .mapToObj(cluster -> new Part<Integer, Integer>(function, cluster, table.id(cluster)))
                .toList();
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
            assertThat(orchestrator.stats().restartedWorkers()).isZero();
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

    private static int recurse(int depth) {
        return depth == 0 ? 0 : recurse(depth + 1) + 1;
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneaky(Throwable failure) throws E {
        throw (E) failure;
    }

    @Test
    void aWorkerGoesOnUnpinnedWhereItsPinnerThrows() {
        AtomicInteger asked = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .pinner(core -> {
                    asked.incrementAndGet();
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
            assertThat(stats.restartedWorkers()).isZero();
            assertThat(stats.workers().getFirst().pin())
                    .isNotNull()
                    .satisfies(pin -> assertThat(pin.pinned()).isFalse())
                    .satisfies(pin -> assertThat(pin.reason()).contains("no core 0"));
        }
        assertThat(asked).hasValue(1);
    }

    @Test
    void aWorkerAsksAnIdleStrategyThatThrowsNoMore() {
        AtomicInteger asked = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .idleStrategy(looks -> {
                    asked.incrementAndGet();
                    throw new IllegalStateException("no idea");
                })
                .build()) {
            MappingId id = orchestrator.register("table").id();
            for (int i = 0; i < 100; i++) {
                assertThat(orchestrator.submit(DOUBLE, i, id).join()).isEqualTo(2 * i);
            }
            assertThat(orchestrator.stats().restartedWorkers()).isZero();
        }
        assertThat(asked).hasValue(1);
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
    void aFanOutThatIsOverKeepsNeitherItsQueriesNorItsPartsResults() throws InterruptedException {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            List<WeakReference<Object>> gone = new ArrayList<>();
            CompletableFuture<Integer> merged = fanOutOfObjects(orchestrator, id, gone);
            assertThat(merged.join()).isEqualTo(2);
            // The worker's own stack may still hold what it ran last.
            orchestrator.submit(DOUBLE, 1, id).join();
            for (int tries = 0; tries < 100 && gone.stream().anyMatch(object -> object.get() != null); tries++) {
                System.gc();
                Thread.sleep(10);
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
    void batchWorkGivesWayToSearches() {
        AtomicBoolean searched = new AtomicBoolean();
        AtomicInteger gaveWay = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            orchestrator.giveWay();
            orchestrator.runBatch("work", 3, piece -> {
                searched.set(false);
                CompletableFuture<?> search = orchestrator.submit(
                        (query, context) -> {
                            // A search gives way to nobody.
                            orchestrator.giveWay();
                            searched.set(true);
                            return 0;
                        },
                        0,
                        id);
                assertThat(searched).isFalse();
                orchestrator.giveWay();
                assertThat(searched).isTrue();
                assertThat(search).isDone();
                gaveWay.incrementAndGet();
            });
            assertThat(gaveWay).hasValue(3);
        }
    }

    /** Fails if what waits inside a search that goes first may take batch work. */
    @Test
    void batchWorkIsNeverInterruptedByBatchWork() {
        // In one thread: that of a worker whose thread is blocked for long may be another.
        Map<Thread, Integer> running = new ConcurrentHashMap<>();
        AtomicInteger most = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            IntConsumer piece = number -> {
                most.accumulateAndGet(running.merge(Thread.currentThread(), 1, Integer::sum), Math::max);
                CompletableFuture<Integer> answer = orchestrator.newFuture();
                var _ = orchestrator.submit((query, context) -> answer.join(), 0, id);
                CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS).execute(() -> answer.complete(0));
                orchestrator.giveWay();
                running.merge(Thread.currentThread(), -1, Integer::sum);
            };
            List<CompletableFuture<Void>> work = IntStream.range(0, 4)
                    .mapToObj(i -> CompletableFuture.runAsync(() -> orchestrator.runBatch("work", 20, piece)))
                    .toList();
            work.forEach(CompletableFuture::join);
            assertThat(most).hasValue(1);
        }
    }

    @Test
    void batchWorkThatGivesWayIsNotStarved() {
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger inARow = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            List<CompletableFuture<Void>> chains = IntStream.range(0, 3)
                    .mapToObj(i -> searchUntil(done, orchestrator, id, inARow))
                    .toList();
            orchestrator.runBatch("work", 1, piece -> {
                for (int step = 0; step < 2_000; step++) {
                    inARow.set(0);
                    orchestrator.giveWay();
                    most.accumulateAndGet(inARow.get(), Math::max);
                }
            });
            done.set(true);
            chains.forEach(CompletableFuture::join);
            assertThat(most).hasValue(32);
        }
    }

    @Test
    void batchWorkIsDoneBesideAsManyIdsAsTablesMayHave() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 2).build()) {
            AtomicInteger ran = new AtomicInteger();
            orchestrator.runBatch("work", 10, piece -> {
                if (piece == 0) {
                    assertThat(orchestrator.register("largest", 131_072).clusters())
                            .isEqualTo(131_072);
                }
                ran.incrementAndGet();
            });
            orchestrator.runBatch("work", 10, piece -> ran.incrementAndGet());
            assertThat(ran).hasValue(20);
            assertThatThrownBy(() -> orchestrator.register("one more"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("131,072");
        }
    }

    @Test
    void batchWorkThrowsWhatAPieceThrew() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            RuntimeException unchecked = new IllegalStateException("no such row");
            assertThatThrownBy(() -> orchestrator.runBatch("work", 10, piece -> {
                        throw unchecked;
                    }))
                    .isSameAs(unchecked);
            Error error = new AssertionError("no such row");
            assertThatThrownBy(() -> orchestrator.runBatch("work", 10, piece -> {
                        throw error;
                    }))
                    .isSameAs(error);
        }
    }

    @Test
    void batchWorkNeedsNoRoomInRings() throws Exception {
        try (Orchestrator orchestrator =
                Machines.orchestrator(1, 1).ringCapacity(2).build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            assertThatThrownBy(() -> fillWithBatchTasks(orchestrator, id)).isInstanceOf(RejectedSearchException.class);
            AtomicInteger ran = new AtomicInteger();
            CompletableFuture<Void> work = CompletableFuture.runAsync(
                    () -> orchestrator.runBatch("work", 200_000, piece -> ran.incrementAndGet()));
            release.countDown();
            work.join();
            assertThat(ran).hasValue(200_000);
        }
    }

    @Test
    void batchWorkWithoutRoomRunsOnTheWorkerThatAsksForIt() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .ringCapacity(2)
                .overloadPolicy(OverloadPolicy.block(FOREVER))
                .build()) {
            MappingId id = orchestrator.register("table").id();
            AtomicInteger ran = new AtomicInteger();
            SearchFunction<Integer, Integer> search = (pieces, context) -> {
                fillWithBatchTasks(orchestrator, id);
                orchestrator.runBatch("work", pieces, piece -> ran.incrementAndGet());
                return ran.get();
            };
            assertThat(orchestrator.submit(search, 200_000, id).join()).isEqualTo(200_000);
        }
    }

    /** Ends with the first task that finds no room and runs in this thread. */
    private static void fillWithBatchTasks(Orchestrator orchestrator, MappingId id) {
        boolean room = true;
        while (room) {
            room = !orchestrator.submit(DOUBLE, 0, id, SubmitOptions.BATCH).isDone();
        }
    }

    /** Searches one after the other: there is always one that waits. */
    private static CompletableFuture<Void> searchUntil(
            AtomicBoolean done, Orchestrator orchestrator, MappingId id, AtomicInteger searches) {
        return orchestrator
                .submit((query, context) -> searches.incrementAndGet(), 0, id)
                .thenCompose(searched -> done.get()
                        ? CompletableFuture.completedFuture(null)
                        : searchUntil(done, orchestrator, id, searches));
    }

    @Test
    void aFullDomainRejectsAndNamesItself() {
        try (Orchestrator orchestrator =
                Machines.orchestrator(2, 1).ringCapacity(4).build()) {
            MappingId id = orchestrator.register("table").id();
            int home = orchestrator.homes(id).getFirst();
            CountDownLatch release = new CountDownLatch(1);
            List<CompletableFuture<Integer>> accepted = new ArrayList<>();
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            accepted.add(orchestrator.submit(blocking(new CountDownLatch(1), release), 0, id));
                        }
                    })
                    .isInstanceOf(RejectedSearchException.class)
                    .hasMessageContaining("cache domain " + home + " is full");
            release.countDown();
            assertThat(accepted).hasSizeBetween(4, 10).allSatisfy(future -> future.get(10, TimeUnit.SECONDS));
            assertThat(orchestrator.stats().tasks().rejected()).isEqualTo(1);
        }
    }

    @Test
    void aSubmitterMayWaitForRoomAsLongAsItTakes() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .ringCapacity(2)
                .overloadPolicy(OverloadPolicy.block(FOREVER))
                .build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS).execute(release::countDown);
            List<CompletableFuture<Integer>> futures = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                futures.add(orchestrator.submit(DOUBLE, i, id));
            }
            assertThat(futures.getLast().join()).isEqualTo(198);
        }
    }

    @Test
    void aFanOutThatDoesNotFitLeavesNothingBehind() {
        Orchestrator orchestrator = Machines.orchestrator(1, 2).ringCapacity(4).build();
        Registration table = orchestrator.register("table", 100);
        AtomicInteger ran = new AtomicInteger();
        assertThatThrownBy(() -> orchestrator.fanOut(
                        parts(table, (query, context) -> ran.incrementAndGet()), results -> results))
                .isInstanceOf(RejectedSearchException.class);
        assertThat(orchestrator.stats().workers())
                .allSatisfy(worker -> assertThat(worker.waiting()).isZero());
        assertThat(orchestrator.close(Duration.ofSeconds(10))).isTrue();
        assertThat(ran).hasValue(0);
    }

    @Test
    void aListOfPartsThatFailsLeavesNothingBehind() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        Registration table = orchestrator.register("table", 2);
        for (int good = 0; good < 10; good++) {
            AtomicInteger left = new AtomicInteger(good);
            List<Part<Integer, Integer>> failing = new ArrayList<>(parts(table, DOUBLE)) {
                private static final long serialVersionUID = 1;

                @Override
                public Iterator<Part<Integer, Integer>> iterator() {
                    return stream()
                            .peek(part -> {
                                if (left.getAndDecrement() <= 0) {
                                    throw new ConcurrentModificationException();
                                }
                            })
                            .iterator();
                }
            };
            try {
                orchestrator.fanOut(failing, results -> results.size()).join();
            } catch (ConcurrentModificationException expected) {
                assertThat(orchestrator.stats().workers())
                        .allSatisfy(worker -> assertThat(worker.waiting()).isZero());
            }
        }
        assertThat(orchestrator
                        .submit(DOUBLE, 1, table.id(0))
                        .orTimeout(10, TimeUnit.SECONDS)
                        .join())
                .isEqualTo(2);
        assertThat(orchestrator.close(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void aFullRingCanRunTheTaskInTheCaller() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .ringCapacity(2)
                .overloadPolicy(OverloadPolicy.callerRuns())
                .build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            Thread caller = Thread.currentThread();
            List<CompletableFuture<Thread>> futures = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                futures.add(orchestrator.submit((query, context) -> Thread.currentThread(), 0, id));
            }
            assertThat(futures.get(2)).isCompletedWithValue(caller);
            release.countDown();
            assertThat(futures.get(0).join()).isNotEqualTo(caller);
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

    @Test
    void closeDrainsWhatWasAccepted() {
        Orchestrator orchestrator = Machines.orchestrator(2, 2).build();
        Registration table = orchestrator.register("table", 8);
        List<CompletableFuture<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            futures.add(orchestrator.submit(DOUBLE, i, table.id(i % 8)));
        }
        assertThat(orchestrator.close(Duration.ofSeconds(30))).isTrue();
        assertThat(futures).allSatisfy(future -> assertThat(future).isCompleted());
        assertThatThrownBy(() -> orchestrator.submit(DOUBLE, 1, table.id(0)))
                .isInstanceOf(OrchestratorClosedException.class)
                .hasMessageContaining("closed");
        assertThat(orchestrator.close(Duration.ofSeconds(1))).isTrue();
    }

    @Test
    void closeFailsWhatIsLeftWhenTheTimeIsUp() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<Integer> running = orchestrator.submit(blocking(started, release), 0, id);
        CompletableFuture<Integer> queued = orchestrator.submit(DOUBLE, 1, id);
        await(started);
        assertThat(orchestrator.close(Duration.ofMillis(10))).isFalse();
        assertThatThrownBy(running::join).hasCauseInstanceOf(OrchestratorClosedException.class);
        release.countDown();
        assertThatThrownBy(queued::join).hasCauseInstanceOf(OrchestratorClosedException.class);
    }

    @Test
    void closeFailsAlsoASearchInWhoseMidstAnotherRuns() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<Integer> outer = orchestrator.submit(
                (query, context) ->
                        orchestrator.submit(blocking(started, release), 0, id).join(),
                0,
                id);
        await(started);
        assertThat(orchestrator.close(Duration.ofMillis(10))).isFalse();
        assertThat(outer).isCompletedExceptionally();
        release.countDown();
        assertThatThrownBy(outer::join).hasCauseInstanceOf(OrchestratorClosedException.class);
    }

    @Test
    void closeWaitsAsLongAsItIsTold() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        CompletableFuture<Integer> future = orchestrator.submit(DOUBLE, 1, id);
        assertThat(orchestrator.close(FOREVER)).isTrue();
        assertThat(future).isCompletedWithValue(2);
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void closeWithoutATimeoutChangesNothing() {
        Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
        MappingId id = orchestrator.register("table").id();
        assertThatThrownBy(() -> orchestrator.close(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("timeout must not be null");
        assertThat(orchestrator.submit(DOUBLE, 1, id).join()).isEqualTo(2);
        assertThat(orchestrator.close(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void waitingForAsLittleAsALongTellsGivesUpAtOnce() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            CompletableFuture<Integer> search = orchestrator.submit(blocking(started, release), 1, id);
            for (long nanos : new long[] {0, -1, Long.MIN_VALUE}) {
                assertThatThrownBy(() -> search.get(nanos, TimeUnit.NANOSECONDS))
                        .isInstanceOf(TimeoutException.class);
            }
            release.countDown();
            assertThat(search.get(Long.MAX_VALUE, TimeUnit.NANOSECONDS)).isEqualTo(1);
        }
    }

    @Test
    void aLongWindowThatIsNoFewWholeShortOnesIsRefused() {
        Duration second = Duration.ofSeconds(1);
        for (Duration wrong : List.of(
                Duration.ZERO,
                Duration.ofMillis(500),
                Duration.ofMillis(1_500),
                second.multipliedBy(Orchestrator.Builder.MOST_SHORT_PER_LONG + 1),
                ChronoUnit.FOREVER.getDuration())) {
            assertThatThrownBy(() -> Orchestrator.builder().windows(second, wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("the long window must be 1 to 1000 whole short windows of PT1S, got " + wrong);
        }
        assertThatThrownBy(() -> Orchestrator.builder().windows(Duration.ofNanos(999_999), second))
                .hasMessageContaining("at least 1 ms, got PT0.000999999S");
        Machines.orchestrator(1, 1)
                .windows(second, second.multipliedBy(Orchestrator.Builder.MOST_SHORT_PER_LONG))
                .build()
                .close();
    }

    @Test
    void trafficMovesATableToAFreeDomain() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1)
                .windows(Duration.ofHours(1), Duration.ofHours(6))
                .build()) {
            List<Registration> tables = IntStream.range(0, 4)
                    .mapToObj(i -> orchestrator.register("table-" + i))
                    .toList();
            List<Registration> together = tables.stream()
                    .filter(table -> orchestrator.homes(table.id()).contains(0))
                    .toList();
            assertThat(together).hasSize(2);
            for (int i = 0; i < 1_000; i++) {
                for (Registration table : together) {
                    orchestrator
                            .submit(
                                    (query, context) -> {
                                        context.touched(10, 10_000);
                                        return query;
                                    },
                                    i,
                                    table.id())
                            .join();
                }
            }
            long before = orchestrator.mapping().epoch();
            CompletableFuture<Boolean> free = usableByOthersOnceRetired(orchestrator);
            assertThat(orchestrator.endWindow()).isTrue();
            assertThat(free.join()).isTrue();
            assertThat(orchestrator.mapping().epoch()).isEqualTo(before + 1);
            assertThat(together.stream()
                            .map(table -> orchestrator.homes(table.id()).getFirst()))
                    .containsExactlyInAnyOrder(0, 1);
            assertThat(orchestrator.stats().remaps()).isEqualTo(1);
            assertThat(orchestrator.endWindow()).isFalse();
        }
    }

    @Test
    void aSearchMayCountTrafficOfOtherMappingIds() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1)
                        .windows(Duration.ofHours(1), Duration.ofHours(6))
                        .build();
                Orchestrator other = Machines.orchestrator(1, 1).build()) {
            Registration table = orchestrator.register("table", 4);
            Registration gone = orchestrator.register("gone");
            gone.close();
            Registration heir = orchestrator.register("heir");
            assertThat(heir.id().slot()).isEqualTo(gone.id().slot());
            MappingId foreign = other.register("foreign").id();
            SearchFunction<Integer, Integer> readsAll = (query, context) -> {
                for (int cluster = 0; cluster < table.clusters(); cluster++) {
                    orchestrator.touched(table.id(cluster), 1, 100L * cluster);
                }
                orchestrator.touched(gone.id(), 1, 1_000);
                assertThatThrownBy(() -> orchestrator.touched(foreign, 1, 1))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("got foreign of another orchestrator");
                assertThatThrownBy(() -> orchestrator.touched(table.id(0), 1, -7))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("must not be negative, got 1 and -7");
                return query;
            };
            orchestrator.submit(readsAll, 0, table.id(2)).join();
            assertThat(orchestrator.stats().tables())
                    .containsExactlyInAnyOrder(
                            new OrchestratorStats.TableStats("table", 4, 4, 600),
                            new OrchestratorStats.TableStats("heir", 1, 0, 0));
            assertThat(orchestrator.stats().tasks().completed()).isEqualTo(1);
        }
    }

    @Test
    void aMappingIdWithSeveralHomesHasNoneOfItsOwn() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1)
                .windows(Duration.ofHours(1), Duration.ofHours(6))
                .build()) {
            Registration table = orchestrator.register("table", 2);
            assertThat(List.of(table.home(0), table.home(1))).containsExactlyInAnyOrder(0, 1);
            assertThat(List.of(table.home(0))).isEqualTo(orchestrator.homes(table.id(0)));
            for (int i = 0; i < 1_000; i++) {
                orchestrator
                        .submit(
                                (query, context) -> {
                                    context.touched(10, 10_000);
                                    return query;
                                },
                                i,
                                table.id(0))
                        .join();
            }
            assertThat(orchestrator.endWindow()).isTrue();
            assertThat(orchestrator.homes(table.id(0))).hasSize(2);
            assertThat(table.home(0)).isEqualTo(-1);
            assertThatThrownBy(() -> table.home(2))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("between 0 and 1, got 2");
        }
    }

    @Test
    void workersAreFreeThatHaveNothingToRun() throws Exception {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 2).build()) {
            Registration table = orchestrator.register("table");
            int home = table.home(0);
            awaitFree(orchestrator, home, 2);
            awaitFree(orchestrator, 1 - home, 2);
            CountDownLatch release = new CountDownLatch(1);
            List<CompletableFuture<Integer>> running = new ArrayList<>();
            for (int left = 1; left >= 0; left--) {
                CountDownLatch started = new CountDownLatch(1);
                running.add(orchestrator.submit(blocking(started, release), 0, table.id()));
                await(started);
                awaitFree(orchestrator, home, left);
            }
            assertThat(orchestrator.freeWorkers(1 - home)).isEqualTo(2);
            running.add(orchestrator.submit(blocking(new CountDownLatch(1), release), 0, table.id()));
            assertThat(orchestrator.freeWorkers(home)).isZero();
            release.countDown();
            running.forEach(CompletableFuture::join);
            awaitFree(orchestrator, home, 2);
            assertThatThrownBy(() -> orchestrator.freeWorkers(2))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("domain must be between 0 and 1, got 2");
        }
        try (Orchestrator anywhere = Machines.orchestrator(1, 1)
                .scheduling(SchedulingPolicy.WORK_STEALING)
                .build()) {
            anywhere.submit(DOUBLE, 1, anywhere.register("table").id()).join();
            assertThat(anywhere.freeWorkers(0)).isZero();
        }
    }

    /** Workers say that they have begun to look for something, or found it, a moment after they have. */
    private static void awaitFree(Orchestrator orchestrator, int domain, int expected) {
        long end = System.nanoTime() + 10_000_000_000L;
        while (orchestrator.freeWorkers(domain) != expected && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
        assertThat(orchestrator.freeWorkers(domain)).isEqualTo(expected);
    }

    @Test
    void anEpochRetiresWhenItsLastTaskHasFinished() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1).build()) {
            MappingId id = orchestrator.register("table").id();
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            var _ = orchestrator.submit(blocking(started, release), 0, id);
            await(started);
            long epoch = orchestrator.mapping().epoch();
            CompletableFuture<Void> quiet = orchestrator.quiesce().toCompletableFuture();
            CompletableFuture<Void> retired = orchestrator.retired(epoch).toCompletableFuture();
            assertThat(orchestrator.submit(DOUBLE, 3, id)).isNotNull();
            assertThat(retired).isNotDone();
            assertThat(quiet).isNotDone();
            release.countDown();
            retired.join();
            quiet.join();
        }
    }

    @Test
    void whatWaitsForAnEpochHoldsNothingUp() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            Registration table = orchestrator.register("table");
            for (Runnable publishing :
                    List.<Runnable>of(orchestrator::quiesce, () -> orchestrator.register("other"), table::close)) {
                CompletableFuture<Boolean> free = usableByOthersOnceRetired(orchestrator);
                publishing.run();
                assertThat(free.join()).isTrue();
            }
        }
    }

    /** Completes when the present epoch has retired: whether another thread can use the orchestrator meanwhile. */
    private static CompletableFuture<Boolean> usableByOthersOnceRetired(Orchestrator orchestrator) {
        return orchestrator
                .retired(orchestrator.mapping().epoch())
                .thenApply(none -> CompletableFuture.supplyAsync(orchestrator::mapping)
                        .thenApply(mapping -> true)
                        .completeOnTimeout(false, 10, TimeUnit.SECONDS)
                        .join())
                .toCompletableFuture();
    }

    @Test
    void unregisteredIdsAreRefusedAndTheirSlotsUsedAgain() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1).build();
                Orchestrator other = Machines.orchestrator(1, 1).build()) {
            Registration first = orchestrator.register("first", 100_000);
            assertThatThrownBy(() -> orchestrator.register("second", 100_000))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("131,072");
            first.close();
            first.close();
            assertThatThrownBy(() -> orchestrator.submit(DOUBLE, 1, first.id(7)))
                    .isInstanceOf(TableClosedException.class)
                    .hasMessage("table first is closed");
            Registration second = orchestrator.register("second", 100_000);
            assertThat(second.id(99_999).slot()).isLessThan(131_072);
            assertThatThrownBy(() -> other.submit(DOUBLE, 1, second.id(0)))
                    .hasMessageContaining("another orchestrator");
        }
    }

    @Test
    void noSearchOfAnUnregisteredTableRunsOnceThoseBeforeHaveFinished() throws Exception {
        int submitters = 8;
        AtomicInteger late = new AtomicInteger();
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1)
                .overloadPolicy(OverloadPolicy.block(FOREVER))
                .build()) {
            for (int round = 0; round < 50; round++) {
                Registration table = orchestrator.register("table");
                AtomicBoolean finished = new AtomicBoolean();
                CountDownLatch submitted = new CountDownLatch(10 * submitters);
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < submitters; i++) {
                    threads.add(Thread.ofPlatform().start(() -> {
                        SearchFunction<Integer, Integer> search =
                                (query, context) -> finished.get() ? late.incrementAndGet() : 0;
                        try {
                            while (true) {
                                var _ = orchestrator.submit(search, 0, table.id());
                                submitted.countDown();
                            }
                        } catch (TableClosedException closed) {
                            // As it should be.
                        }
                    }));
                }
                submitted.await();
                long epoch = orchestrator.mapping().epoch();
                table.close();
                orchestrator.retired(epoch).toCompletableFuture().join();
                finished.set(true);
                for (Thread thread : threads) {
                    thread.join();
                }
            }
        }
        assertThat(late).hasValue(0);
    }

    @Test
    void idsOfTablesThatAreNoMoreAreNotCounted() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1).build()) {
            Registration table = orchestrator.register("table", 4);
            assertThat(orchestrator.stats().domains())
                    .extracting(OrchestratorStats.DomainStats::mappingIds)
                    .containsExactly(2, 2);
            table.close();
            assertThat(orchestrator.stats().domains())
                    .extracting(OrchestratorStats.DomainStats::mappingIds)
                    .containsExactly(0, 0);
        }
    }

    @Test
    void aPolicyThatFailsIsAskedAgainAtTheNextWindow() {
        CountDownLatch asked = new CountDownLatch(3);
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1)
                .windows(Duration.ofMillis(1), Duration.ofMillis(6))
                .mappingPolicy((current, traffic) -> {
                    asked.countDown();
                    throw new AssertionError("no mapping");
                })
                .build()) {
            assertThat(orchestrator.workers()).isEqualTo(2);
            await(asked);
        }
    }

    private static SearchFunction<Integer, Integer> blocking(CountDownLatch started, CountDownLatch release) {
        return (query, context) -> {
            started.countDown();
            assertThat(release.await(30, TimeUnit.SECONDS)).isTrue();
            return query;
        };
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
