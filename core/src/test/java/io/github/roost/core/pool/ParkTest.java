package io.github.roost.core.pool;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.pool.Completions.DiskFailure;
import io.github.roost.core.pool.Completions.Kind;
import io.github.roost.core.spi.CompletionSource;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Await;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches that wait for bytes. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway") // what a test sets it sets before it reads it
class ParkTest {
    /** Late enough that the search has parked before. */
    private static final SubmitOptions LATE = SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(500));

    private static final SubmitOptions SOON_LATE = SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(5));

    private final Completions completions = new Completions(23);
    private Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
    private MappingId id = orchestrator.register("table").id();

    @AfterEach
    void close() {
        completions.close();
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    /** Doubles its query once something has completed. */
    private Search<Integer, Integer> doubled(Kind kind) {
        return (query, context) -> new Step.Park<>(completions.ask(kind), (same, later) -> Step.done(2 * same));
    }

    private CompletableFuture<Integer> submit(Search<Integer, Integer> search, SubmitOptions options) {
        return orchestrator.indexing().submitSteps(search, 21, id, options);
    }

    private int parked() {
        return Inside.pool(orchestrator).parked();
    }

    private void awaitParked(int count) {
        while (parked() != count) {
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"AT_ONCE", "SOON", "TWICE"})
    void aParkedSearchGoesOnOnceWhenItIsCompleted(Kind kind) {
        AtomicInteger slices = new AtomicInteger();
        List<CompletableFuture<Integer>> answers = IntStream.range(0, 200)
                .mapToObj(i -> submit(
                        (query, context) -> new Step.Park<>(completions.ask(kind), (same, later) -> {
                            slices.incrementAndGet();
                            return Step.done(2 * same);
                        }),
                        SubmitOptions.DEFAULT))
                .toList();
        assertThat(answers).allSatisfy(answer -> assertThat(answer.join()).isEqualTo(42));
        assertThat(slices).hasValue(200);
        assertThat(parked()).isZero();
    }

    @Test
    void aCompletionWithAnErrorFailsTheSearchAndNoFurtherSliceRuns() {
        AtomicInteger slices = new AtomicInteger();
        CompletableFuture<Integer> answer = submit(
                (query, context) -> new Step.Park<>(completions.ask(Kind.WITH_AN_ERROR), (same, later) -> {
                    slices.incrementAndGet();
                    return Step.done(same);
                }),
                SubmitOptions.DEFAULT);
        assertThatThrownBy(answer::get).isInstanceOf(ExecutionException.class).hasCauseInstanceOf(DiskFailure.class);
        assertThat(slices).hasValue(0);
    }

    @Test
    void theDeadlineOfAParkedSearchFiresWhereNothingEverCompletes() {
        CompletableFuture<Integer> early =
                submit(doubled(Kind.NEVER), SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(1)));
        CompletableFuture<Integer> late = submit(doubled(Kind.NEVER), SOON_LATE);
        CompletableFuture<Integer> none = submit(doubled(Kind.LATE), SubmitOptions.DEFAULT);
        for (CompletableFuture<Integer> answer : List.of(late, early)) {
            assertThatThrownBy(answer::get).hasCauseInstanceOf(DeadlineExceededException.class);
        }
        awaitParked(1);
        // What comes after the deadline is ignored.
        completions.never().forEach(pending -> assertThat(pending.complete()).isTrue());
        completions.completeLate();
        assertThat(none.join()).isEqualTo(42);
        orchestrator.indexing().quiesce().toCompletableFuture().join();
    }

    @Test
    void aDeadlineThatPassesWhileASearchWaitsForSomethingWithANameNamesIt() {
        Pending never = new Pending(() -> "a reply of the moon");
        CompletableFuture<Integer> late =
                submit((query, context) -> new Step.Park<>(never, (same, later) -> Step.done(same)), LATE);
        assertThatThrownBy(late::join)
                .cause()
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the deadline passed while the search waited for a reply of the moon");
        never.complete();
        assertThat(never.awaited()).isNull();
    }

    @Test
    void aNameThatCannotBeMadeKeepsNoSearchFromEndingAtItsDeadline() {
        Pending never = new Pending(() -> {
            throw new IllegalStateException("no name");
        });
        CompletableFuture<Integer> late =
                submit((query, context) -> new Step.Park<>(never, (same, later) -> Step.done(same)), LATE);
        assertThatThrownBy(late::join).cause().isInstanceOf(DeadlineExceededException.class);
    }

    @Test
    void aSearchMayParkAgainAndAgainAndCountsAsOne() {
        class Again {
            int left = 50;

            Step<Integer, Integer> step(Integer query, SearchContext context) {
                return left-- == 0 ? Step.done(query) : new Step.Park<>(completions.ask(Kind.SOON), this::step);
            }
        }
        assertThat(submit(new Again()::step, SubmitOptions.DEFAULT).join()).isEqualTo(21);
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(orchestrator.stats(0).tasks().completed()).isEqualTo(1);
    }

    /** Leaves its stalls empty until told otherwise. */
    private static final class Rule implements Indexing.StallRule {
        private final AtomicInteger begun = new AtomicInteger();
        private final AtomicInteger asked = new AtomicInteger();
        private volatile long allowed;
        private volatile boolean inStall;
        private final AtomicInteger ranInStalls = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();

        @Override
        public void begins(long now, int underWay) {
            inStall = true;
            begun.incrementAndGet();
        }

        @Override
        public void ends(long now) {
            ended.addAndGet(inStall ? 1 : 0);
            inStall = false;
        }

        @Override
        public void isOver(long now) {
            inStall = false;
        }

        @Override
        public void ran(long from, long to) {
            ranInStalls.addAndGet(inStall ? 1 : 0);
        }

        @Override
        public long mayRun(long now) {
            asked.incrementAndGet();
            return allowed;
        }

        @Override
        public boolean isMeasured() {
            return inStall;
        }

        @Override
        public boolean isEmpty() {
            return inStall && allowed == 0;
        }
    }

    @Test
    void theRuleOfAnIndexDecidesWhenAStallIsFilledAndForHowLong() {
        Rule rule = new Rule();
        Indexing.StallRule.Factory factory = worker -> rule;
        orchestrator.indexing().stallRule(factory);
        assertThat(orchestrator.indexing().stallRule()).isSameAs(factory);
        Pending bytes = new Pending();
        CompletableFuture<Integer> search = submit(
                (query, context) -> new Step.Park<>(bytes, (same, later) -> Step.done(same)), SubmitOptions.DEFAULT);
        Await.until(() -> rule.begun.get() == 1);
        CompletableFuture<Long> budget = new CompletableFuture<>();
        CompletableFuture<Void> work = orchestrator.indexing().maintenance(id, context -> {
            budget.complete(context.stepNanos());
            return false;
        });
        int before = rule.asked.get();
        Await.until(() -> rule.asked.get() > before + 1);
        assertThat(work).isNotDone();
        rule.allowed = 7_000;
        work.join();
        assertThat(budget.join()).isEqualTo(7_000);
        // A worker that finds its search gone as it begins to idle does not measure the stall: it must have begun to.
        Await.until(() -> orchestrator.indexing().freeWorkers(0) == 1);
        bytes.complete();
        assertThat(search.join()).isEqualTo(21);
        assertThat(rule.ended).hasValue(1);
        assertThat(rule.ranInStalls).hasValue(1);
    }

    @Test
    void aWorkerAppliesAnotherRuleFromItsNextStallOn() {
        Rule first = new Rule();
        Rule second = new Rule();
        orchestrator.indexing().stallRule(worker -> first);
        parkUntil(() -> first.begun.get() == 1);
        orchestrator.indexing().stallRule(worker -> second);
        parkUntil(() -> second.begun.get() == 1);
        orchestrator.indexing().stallRule(null);
        parkUntil(() -> parked() == 1);
        assertThat(first.begun).hasValue(1);
        assertThat(second.begun).hasValue(1);
    }

    private void parkUntil(Await.Condition<RuntimeException> reached) {
        Pending bytes = new Pending();
        CompletableFuture<Integer> search = submit(
                (query, context) -> new Step.Park<>(bytes, (same, later) -> Step.done(same)), SubmitOptions.DEFAULT);
        Await.until(reached);
        bytes.complete();
        assertThat(search.join()).isEqualTo(21);
    }

    @Test
    void aPendingOfAStageCompletesAndFailsWithIt() {
        CompletableFuture<String> bytes = new CompletableFuture<>();
        CompletableFuture<String> lost = new CompletableFuture<>();
        CompletableFuture<Integer> answer = submit(
                (query, context) -> new Step.Park<>(
                        Pending.of(bytes),
                        (same, later) -> Step.done(bytes.join().length())),
                SubmitOptions.DEFAULT);
        CompletableFuture<Integer> failed = submit(
                (query, context) -> new Step.Park<>(Pending.of(lost), (same, later) -> Step.done(1)),
                SubmitOptions.DEFAULT);
        awaitParked(2);
        bytes.complete("four");
        lost.completeExceptionally(new DiskFailure());
        assertThat(answer.join()).isEqualTo(4);
        assertThatThrownBy(failed::get).hasCauseInstanceOf(DiskFailure.class);
    }

    @Test
    void twoSearchesMayNotWaitForTheSamePending() {
        Pending one = new Pending();
        Search<Integer, Integer> search = (query, context) -> new Step.Park<>(one, (same, later) -> Step.done(same));
        CompletableFuture<Integer> first = submit(search, SubmitOptions.DEFAULT);
        awaitParked(1);
        CompletableFuture<Integer> second = submit(search, SubmitOptions.DEFAULT);
        assertThatThrownBy(second::get)
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("only one search");
        one.complete();
        assertThat(first.join()).isEqualTo(21);
        assertThat(parked()).isZero();
        orchestrator.indexing().quiesce().toCompletableFuture().join();
    }

    @Test
    void aThousandParkedSearchesHoldUpNobodyAndThenAllGoOn() {
        List<CompletableFuture<Integer>> waiting = IntStream.range(0, 1_000)
                .mapToObj(i -> submit(doubled(Kind.LATE), SubmitOptions.DEFAULT))
                .toList();
        awaitParked(1_000);
        for (int i = 0; i < 2_000; i++) {
            assertThat(orchestrator.submit((query, context) -> query + 1, i, id).join())
                    .isEqualTo(i + 1);
        }
        assertThat(parked()).isEqualTo(1_000);
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        completions.completeLate();
        assertThat(waiting).allSatisfy(answer -> assertThat(answer.join()).isEqualTo(42));
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(parked()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aParkedSearchThatIsCancelledEndsAndItsEpochRetires(boolean withDeadline) {
        SubmitOptions options =
                withDeadline ? SubmitOptions.DEFAULT.withTimeout(Duration.ofHours(1)) : SubmitOptions.DEFAULT;
        CompletableFuture<Integer> answer = submit(doubled(Kind.NEVER), options);
        awaitParked(1);
        assertThat(answer.cancel(false)).isTrue();
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(parked()).isZero();
        assertThat(completions.never().getFirst().complete()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSearchThatIsCancelledWhileTheSliceRunsThatParksItLeavesNothingParked(boolean withDeadline) {
        SubmitOptions options =
                withDeadline ? SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(200)) : SubmitOptions.DEFAULT;
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        CompletableFuture<Integer> answer = submit(
                (query, context) -> {
                    runs.countDown();
                    cancelled.await();
                    return new Step.Park<>(completions.ask(Kind.NEVER), (same, later) -> Step.done(same));
                },
                options);
        join(runs);
        answer.cancel(false);
        cancelled.countDown();
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(parked()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoCancelsAndWhoCompletesAndTheDeadlineMayComeAtOnce(boolean group) throws Exception {
        orchestrator.close();
        orchestrator = Machines.orchestrator(1, 2).build();
        id = orchestrator.register("table").id();
        SplittableRandom random = new SplittableRandom(23);
        CyclicBarrier together = new CyclicBarrier(3);
        AtomicReference<CompletableFuture<Integer>> current = new AtomicReference<>(new CompletableFuture<>());
        AtomicReference<Pending> requested = new AtomicReference<>(new Pending());
        int rounds = 2_000;
        Thread canceller = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; i < rounds; i++) {
                meet(together);
                requireNonNull(current.get()).cancel(false);
                meet(together);
            }
        });
        Thread completer = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; i < rounds; i++) {
                meet(together);
                requireNonNull(requested.get()).complete();
                meet(together);
            }
        });
        Indexing.BatchQueue<Integer, Integer> parking =
                orchestrator.indexing().batchQueue(id, parkingGroup(() -> requireNonNull(requested.get())));
        for (int i = 0; i < rounds; i++) {
            requested.set(new Pending());
            SubmitOptions options = SubmitOptions.DEFAULT.withTimeout(Duration.ofNanos(random.nextInt(1, 200_000)));
            current.set(
                    group
                            ? orchestrator.indexing().submitShared(parking, 21, options)
                            : submit(
                                    (query, context) -> new Step.Park<>(
                                            requireNonNull(requested.get()), (same, later) -> Step.done(same)),
                                    options));
            meet(together);
            meet(together);
            CompletableFuture<Integer> answer = requireNonNull(current.get());
            answer.exceptionally(over -> 0).join();
            if (i % 50 == 0) {
                // A worker that is kept from its core would come to find the queue full.
                orchestrator.indexing().quiesce().toCompletableFuture().join();
            }
        }
        canceller.join();
        completer.join();
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(parked()).isZero();
    }

    private static Indexing.GroupSearch<Integer, Integer> parkingGroup(Supplier<Pending> pending) {
        return (group, context) -> new Step.Park<>(pending.get(), (same, later) -> {
            for (int i = 0; i < same.size(); i++) {
                same.answer(i, same.query(i));
            }
            return Step.done(true);
        });
    }

    @Test
    void closeFailsWhatIsParkedAndNothingHangs() {
        List<CompletableFuture<Integer>> waiting = new ArrayList<>();
        Orchestrator closing = Machines.orchestrator(2, 2).build();
        MappingId there = closing.register("table").id();
        Indexing.BatchQueue<Integer, Integer> queue =
                closing.indexing().batchQueue(there, parkingGroup(() -> completions.ask(Kind.NEVER)));
        for (int i = 0; i < 50; i++) {
            waiting.add(closing.indexing().submitSteps(doubled(Kind.NEVER), 1, there, SubmitOptions.DEFAULT));
            waiting.add(closing.indexing()
                    .submitSteps(
                            doubled(Kind.NEVER), 1, there, SubmitOptions.DEFAULT.withTimeout(Duration.ofHours(1))));
            waiting.add(closing.indexing().submitShared(queue, 1, SubmitOptions.DEFAULT));
        }
        CompletableFuture<Void> quiesced = closing.indexing().quiesce().toCompletableFuture();
        assertThat(closing.close(Duration.ofMillis(20))).isFalse();
        assertThat(waiting)
                .allSatisfy(answer ->
                        assertThatThrownBy(answer::get).hasCauseInstanceOf(OrchestratorClosedException.class));
        quiesced.join();
        assertThat(Inside.pool(closing).parked()).isZero();
    }

    @Test
    void eachQueryOfAParkedGroupHasItsOwnDeadlineAndItsOwnCancellation() {
        CountDownLatch joined = new CountDownLatch(1);
        CompletableFuture<Integer> busy = occupy(joined);
        Pending bytes = new Pending();
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator.indexing().batchQueue(id, parkingGroup(() -> bytes));
        CompletableFuture<Integer> patient = orchestrator.indexing().submitShared(queue, 1, SubmitOptions.DEFAULT);
        CompletableFuture<Integer> hasty = orchestrator
                .indexing()
                .submitShared(queue, 2, SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(400)));
        CompletableFuture<Integer> slow =
                orchestrator.indexing().submitShared(queue, 3, SubmitOptions.DEFAULT.withTimeout(Duration.ofHours(1)));
        CompletableFuture<Integer> unwanted = orchestrator.indexing().submitShared(queue, 4, SubmitOptions.DEFAULT);
        joined.countDown();
        busy.join();
        awaitParked(1);
        unwanted.cancel(false);
        assertThatThrownBy(hasty::get).hasCauseInstanceOf(DeadlineExceededException.class);
        assertThat(patient).isNotDone();
        assertThat(slow).isNotDone();
        bytes.complete();
        assertThat(patient.join()).isEqualTo(1);
        assertThat(slow.join()).isEqualTo(3);
        assertThatThrownBy(unwanted::join).isInstanceOf(CancellationException.class);
        orchestrator.indexing().quiesce().toCompletableFuture().join();
    }

    @Test
    void aParkedGroupThatNobodyWaitsForAnyMoreEnds() {
        Indexing.BatchQueue<Integer, Integer> queue =
                orchestrator.indexing().batchQueue(id, parkingGroup(() -> completions.ask(Kind.NEVER)));
        CountDownLatch joined = new CountDownLatch(1);
        CompletableFuture<Integer> busy = occupy(joined);
        List<CompletableFuture<Integer>> answers = IntStream.range(0, 3)
                .mapToObj(i -> orchestrator.indexing().submitShared(queue, i, SubmitOptions.DEFAULT))
                .toList();
        joined.countDown();
        busy.join();
        awaitParked(1);
        answers.forEach(answer -> answer.cancel(false));
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(parked()).isZero();
    }

    @Test
    void aSourceOnTheWorkersOwnThreadCompletesAndWakesIt() {
        Ring ring = new Ring();
        orchestrator.indexing().addCompletionSource(ring::open);
        for (int i = 0; i < 300; i++) {
            CompletableFuture<Integer> answer = submit(
                    (query, context) -> new Step.Park<>(ring.read(), (same, later) -> Step.done(2 * same)),
                    SubmitOptions.DEFAULT);
            ring.awaitRead();
            // From another thread, at any moment: the worker may be about to sleep.
            for (int spins = i % 50; spins > 0; spins--) {
                Thread.onSpinWait();
            }
            ring.arrives();
            assertThat(answer.join()).isEqualTo(42);
        }
        assertThat(ring.threads).containsOnly(ring.threads.peek());
    }

    @Test
    void aSourceThatFailsKeepsNoSearchFromRunning() {
        orchestrator.indexing().addCompletionSource((worker, waker) -> {
            throw new IllegalStateException("a source that cannot be opened");
        });
        orchestrator.indexing().addCompletionSource((worker, waker) -> new CompletionSource() {
            @Override
            public int poll() {
                throw new IllegalStateException("a source that cannot be polled");
            }

            @Override
            public boolean arm() {
                throw new IllegalStateException("a source that cannot be armed");
            }
        });
        Ring ring = new Ring();
        orchestrator.indexing().addCompletionSource(ring::open);
        CompletableFuture<Integer> answer = submit(
                (query, context) -> new Step.Park<>(ring.read(), (same, later) -> Step.done(2 * same)),
                SubmitOptions.DEFAULT);
        ring.awaitRead();
        ring.arrives();
        assertThat(answer.join()).isEqualTo(42);
        assertThat(orchestrator.submit((query, context) -> query, 1, id).join()).isEqualTo(1);
    }

    /** The completions of one worker, looked at by that alone. */
    private static final class Ring {
        private final Queue<Pending> inFlight = new ConcurrentLinkedQueue<>();
        private final Queue<Pending> arrived = new ConcurrentLinkedQueue<>();
        private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
        private volatile boolean armed;
        private volatile CompletionSource.Waker waker = () -> {};

        CompletionSource open(int worker, CompletionSource.Waker wakes) {
            waker = wakes;
            return new CompletionSource() {
                @Override
                public int poll() {
                    armed = false;
                    int count = 0;
                    for (Pending pending = arrived.poll(); pending != null; pending = arrived.poll()) {
                        threads.add(Thread.currentThread());
                        pending.complete();
                        count++;
                    }
                    return count;
                }

                @Override
                public boolean arm() {
                    armed = true;
                    return arrived.isEmpty();
                }
            };
        }

        Pending read() {
            Pending pending = new Pending();
            inFlight.add(pending);
            return pending;
        }

        void awaitRead() {
            while (inFlight.isEmpty()) {
                Thread.onSpinWait();
            }
        }

        void arrives() {
            for (Pending pending = inFlight.poll(); pending != null; pending = inFlight.poll()) {
                arrived.add(pending);
            }
            if (armed) {
                waker.wake();
            }
        }
    }

    /** Keeps the worker busy until a latch opens; returns once it is. */
    private CompletableFuture<Integer> occupy(CountDownLatch until) {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Integer> busy = orchestrator.submit(
                (query, context) -> {
                    begun.countDown();
                    until.await();
                    return query;
                },
                0,
                id);
        join(begun);
        return busy;
    }

    private static void join(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
