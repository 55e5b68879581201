package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Part;
import io.github.roost.core.Priority;
import io.github.roost.core.Registration;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches of several slices. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StepsTest {
    private Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
    private MappingId id = orchestrator.register("table").id();
    private final CountDownLatch busyUntil = new CountDownLatch(1);

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

    private CompletableFuture<Integer> submit(Search<Integer, Integer> search) {
        return submit(search, SubmitOptions.DEFAULT);
    }

    private CompletableFuture<Integer> submit(Search<Integer, Integer> search, SubmitOptions options) {
        return orchestrator.indexing().submitSteps(search, 21, id, options);
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

    /** Yields so many times, and notes each slice. */
    private static final class Yielding {
        private final List<String> order;
        private final String name;
        private int left;

        Yielding(List<String> order, String name, int left) {
            this.order = order;
            this.name = name;
            this.left = left;
        }

        Step<Integer, Integer> step(Integer query, SearchContext context) {
            order.add(name);
            return left-- == 0 ? Step.done(query) : new Step.Yield<>(this::step);
        }
    }

    private static Part<Integer, Integer> part(int result, MappingId there) {
        return new Part<>((query, context) -> query, result, there);
    }

    private static <P> Step.Fork<Integer, Object, P, Integer> sum(List<Part<Integer, P>> parts) {
        return new Step.Fork<>(
                parts,
                List.of(),
                null,
                (query, results, context) -> Step.done(
                        results.stream().mapToInt(found -> (Integer) found).sum()));
    }

    @Test
    @SuppressWarnings("NullAway") // what a user in a language without such checks may do
    void aSearchOfOneStepIsDoneWithItsResultAlsoIfThatIsNull() {
        assertThat(submit((query, context) -> Step.done(2 * query)).join()).isEqualTo(42);
        assertThat(orchestrator
                        .indexing()
                        .<Integer, Integer>submitSteps(
                                (query, context) -> new Step.Done<>(null), 1, id, SubmitOptions.DEFAULT)
                        .join())
                .isNull();
    }

    @Test
    @SuppressWarnings("NullAway") // what a user in a language without such checks may do
    void aStepThatThrowsOrIsNullFailsItsSearchOnly() {
        CompletableFuture<Integer> none = submit((query, context) -> null);
        CompletableFuture<Integer> later = submit((query, context) -> new Step.Yield<>((same, next) -> {
            throw new IllegalStateException("in the second slice");
        }));
        CompletableFuture<Integer> noSearch = submit((query, context) -> new Step.Yield<>(null));
        CompletableFuture<Integer> noPending = submit((query, context) -> new Step.Park<>(null, (same, next) -> null));
        CompletableFuture<Integer> noJoin =
                submit((query, context) -> new Step.Fork<>(List.of(part(1, id)), List.of(), null, null));
        assertThatThrownBy(none::get)
                .hasCauseInstanceOf(NullPointerException.class)
                .hasMessageContaining("null");
        assertThatThrownBy(later::get).hasCauseInstanceOf(IllegalStateException.class);
        for (CompletableFuture<Integer> wrong : List.of(noSearch, noPending, noJoin)) {
            assertThatThrownBy(wrong::get).hasCauseInstanceOf(NullPointerException.class);
        }
        assertThat(submit((query, context) -> Step.done(query)).join()).isEqualTo(21);
    }

    @Test
    void othersGoBetweenTheSlicesOfASearchThatYields() throws Exception {
        occupy();
        List<String> order = new CopyOnWriteArrayList<>();
        CompletableFuture<Integer> yields = submit(new Yielding(order, "yields", 3)::step);
        List<CompletableFuture<Integer>> others = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            others.add(orchestrator.submit(
                    (query, context) -> {
                        order.add("other");
                        return query;
                    },
                    i,
                    id));
        }
        busyUntil.countDown();
        yields.join();
        others.forEach(CompletableFuture::join);
        assertThat(order).hasSize(7);
        assertThat(order.subList(0, 2)).containsExactly("yields", "other");
        // Neither waits for the end of the other.
        assertThat(order.lastIndexOf("yields")).isGreaterThan(order.indexOf("other"));
        assertThat(order.indexOf("other")).isLessThan(order.lastIndexOf("yields"));
    }

    @Test
    void aSearchThatYieldsForEverStarvesNeitherTheRingNorBatchWorkNorAnotherThatYields() {
        CompletableFuture<Integer> forever = submit(new Search<>() {
            @Override
            public Step<Integer, Integer> step(Integer query, SearchContext context) {
                return new Step.Yield<>(this);
            }
        });
        List<String> order = new CopyOnWriteArrayList<>();
        CompletableFuture<Integer> another = submit(new Yielding(order, "another", 20)::step);
        for (SubmitOptions options : List.of(SubmitOptions.DEFAULT, SubmitOptions.BATCH)) {
            for (int i = 0; i < 100; i++) {
                assertThat(orchestrator
                                .submit((query, context) -> query, i, id, options)
                                .join())
                        .isEqualTo(i);
            }
        }
        assertThat(another.join()).isEqualTo(21);
        assertThat(forever).isNotDone();
        forever.cancel(false);
    }

    @Test
    void aBusyRingDoesNotStarveASearchThatYields() throws Exception {
        occupy();
        CompletableFuture<Integer> yields = submit(new Yielding(new ArrayList<>(), "yields", 50)::step);
        CountDownLatch over = new CountDownLatch(1);
        var _ = yields.whenComplete((found, failure) -> over.countDown());
        class Again {
            Integer search(Integer query, SearchContext context) {
                if (over.getCount() > 0) {
                    var _ = orchestrator.submit(this::search, query, id);
                }
                return query;
            }
        }
        var _ = orchestrator.submit(new Again()::search, 0, id);
        busyUntil.countDown();
        assertThat(yields.get(20, TimeUnit.SECONDS)).isEqualTo(21);
    }

    @Test
    void interactiveWorkGoesBeforeTheFirstSliceOfABatchSearch() throws Exception {
        occupy();
        List<String> order = new CopyOnWriteArrayList<>();
        CompletableFuture<Integer> batch = submit(new Yielding(order, "batch", 0)::step, SubmitOptions.BATCH);
        CompletableFuture<Integer> interactive = submit(new Yielding(order, "interactive", 0)::step);
        busyUntil.countDown();
        CompletableFuture.allOf(batch, interactive).join();
        assertThat(order).containsExactly("interactive", "batch");
    }

    @Test
    void partsRunAtTheirHomesAndTheirResultsAreInOrder() {
        // On a loaded machine a home whose thread gets no core looks like one whose tasks wait for long.
        restart(Machines.orchestrator(4, 1).crossDomainGate(new CrossDomainGate(Long.MAX_VALUE)));
        Registration ids = orchestrator.register("parts", 8);
        List<Part<Integer, List<Integer>>> parts = IntStream.range(0, 8)
                .mapToObj(i -> new Part<Integer, List<Integer>>(
                        (query, context) -> List.of(query, context.domain()), i, ids.id(i)))
                .toList();
        Search<Integer, List<List<Integer>>> search =
                (query, context) -> new Step.Fork<Integer, Object, List<Integer>, List<List<Integer>>>(
                        parts, List.of(), null, (same, results, later) -> Step.done(results));
        List<List<Integer>> results = orchestrator
                .indexing()
                .submitSteps(search, 0, ids.id(0), SubmitOptions.DEFAULT)
                .join();
        for (int i = 0; i < 8; i++) {
            assertThat(results.get(i))
                    .containsExactly(i, orchestrator.homes(ids.id(i)).getFirst());
        }
        assertThatThrownBy(results::clear).isInstanceOf(UnsupportedOperationException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void forksMayBeNestedAndTheirPartsMayParkAndYieldAndNothingIsRefusedByFullRings(int workers) {
        restart(Machines.orchestrator(workers, 1).ringCapacity(1));
        Registration ids = orchestrator.register("parts", 4);
        Completions completions = new Completions(5);
        AtomicInteger turn = new AtomicInteger();
        class Tree {
            // Three parts per node, so deep; each leaf is 1, and has parked or yielded.
            Step<Integer, Integer> step(Integer deep, SearchContext context) {
                if (deep == 0) {
                    Search<Integer, Integer> leaf = (query, later) -> Step.done(1);
                    return turn.getAndIncrement() % 2 == 0
                            ? new Step.Yield<>(leaf)
                            : new Step.Park<>(completions.ask(Completions.Kind.SOON), leaf);
                }
                return sum(IntStream.range(0, 3)
                        .mapToObj(i -> Part.<Integer, Integer>inSteps(this::step, deep - 1, ids.id(i)))
                        .toList());
            }
        }
        try (completions) {
            for (int round = 0; round < 10; round++) {
                CompletableFuture<Integer> answer =
                        orchestrator.indexing().submitSteps(new Tree()::step, 4, ids.id(3), SubmitOptions.DEFAULT);
                assertThat(answer.join()).isEqualTo(81);
            }
        }
    }

    @Test
    void aForkWithoutPartsGoesOnWithNoResults() {
        assertThat(submit((query, context) -> new Step.Fork<Integer, Object, Integer, Integer>(
                                List.of(), List.of(), null, (same, results, later) -> Step.done(results.size())))
                        .join())
                .isZero();
        Step.Fork<Integer, Object, Integer, Integer> none = sum(List.of());
        assertThatThrownBy(() -> orchestrator.indexing().submitFork(none, 0, SubmitOptions.DEFAULT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least one part");
    }

    @ParameterizedTest
    @EnumSource(Priority.class)
    void aSearchThatForksToNothingForEverTakesNoMoreThanItsTurns(Priority priority) {
        AtomicInteger slices = new AtomicInteger();
        AtomicInteger atBegin = new AtomicInteger();
        class Again {
            private @Nullable CompletableFuture<Integer> other;

            Step<Integer, Integer> step(Integer query, SearchContext context) {
                if (slices.incrementAndGet() == 1_000) {
                    SubmitOptions options = new SubmitOptions(priority, Duration.ZERO);
                    other = orchestrator.submit((same, within) -> atBegin.addAndGet(slices.get()), 0, id, options);
                }
                return other != null && (other.isDone() || slices.get() > 100_000)
                        ? Step.done(query)
                        : new Step.Fork<Integer, Object, Integer, Integer>(
                                List.of(), List.of(), null, (same, results, later) -> step(same, later));
            }
        }
        assertThat(submit(new Again()::step).join()).isEqualTo(21);
        assertThat(atBegin).hasValueBetween(1_000, 1_100);
    }

    /** Parts of earlier rounds, which were parked once, are not kept until the search ends. */
    @Test
    void aSearchOfManyRoundsKeepsNoPartOfThoseThatAreOver() {
        int rounds = 20;
        List<WeakReference<Object>> results = new CopyOnWriteArrayList<>();
        CompletableFuture<Boolean> cleared = new CompletableFuture<>();
        class Rounds {
            private int left = rounds;

            Step<Integer, Integer> step(Integer query, SearchContext context) {
                if (left-- == 0) {
                    for (int i = 0; i < 100 && results.stream().anyMatch(result -> result.get() != null); i++) {
                        System.gc();
                    }
                    cleared.complete(results.stream().allMatch(result -> result.get() == null));
                    return Step.done(results.size());
                }
                Part<Integer, Object> part = Part.inSteps(this::part, 1, id);
                return new Step.Fork<Integer, Object, Object, Integer>(
                        List.of(part), List.of(), null, (same, made, later) -> new Step.Yield<>(this::step));
            }

            private Step<Integer, Object> part(Integer query, SearchContext context) {
                Pending soon = new Pending();
                CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS).execute(soon::complete);
                return new Step.Park<>(soon, (same, later) -> {
                    Object result = new Object();
                    results.add(new WeakReference<>(result));
                    return Step.done(result);
                });
            }
        }
        assertThat(submit(new Rounds()::step).join()).isEqualTo(rounds);
        assertThat(cleared).isCompletedWithValue(true);
    }

    @Test
    void forkAfterForkAfterForkDoesNotGrowTheStack() {
        class Again {
            private int left = 20_000;

            Step<Integer, Integer> step(Integer query, SearchContext context) {
                return left-- == 0
                        ? Step.done(query)
                        : new Step.Fork<Integer, Object, Integer, Integer>(
                                left % 2 == 0 ? List.of() : List.of(part(1, id)),
                                List.of(),
                                null,
                                (same, results, later) -> step(same, later));
            }
        }
        assertThat(submit(new Again()::step).join()).isEqualTo(21);
    }

    @Test
    void theFirstPartThatFailsFailsTheSearchAndNoFurtherPartBegins() throws Exception {
        occupy();
        AtomicInteger begun = new AtomicInteger();
        IllegalStateException broken = new IllegalStateException("the second part");
        AtomicInteger joined = new AtomicInteger();
        List<Part<Integer, Integer>> parts = IntStream.range(0, 5)
                .mapToObj(i -> new Part<Integer, Integer>(
                        (query, context) -> {
                            begun.incrementAndGet();
                            if (query == 1) {
                                throw broken;
                            }
                            return query;
                        },
                        i,
                        id))
                .toList();
        CompletableFuture<Integer> answer = submit((query, context) ->
                new Step.Fork<Integer, Object, Integer, Integer>(parts, List.of(), null, (same, results, later) -> {
                    joined.incrementAndGet();
                    return Step.done(1);
                }));
        busyUntil.countDown();
        assertThatThrownBy(answer::get).hasCause(broken);
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(begun).hasValue(2);
        assertThat(joined).hasValue(0);
    }

    @Test
    void aPartOfAnUnregisteredTableFailsTheSearch() {
        Registration gone = orchestrator.register("gone");
        gone.close();
        CompletableFuture<Integer> answer = submit((query, context) -> sum(List.of(part(1, id), part(2, gone.id()))));
        assertThatThrownBy(answer::get)
                .hasCauseInstanceOf(TableClosedException.class)
                .hasMessageContaining("table gone is closed");
    }

    @Test
    void aPartOfATableOfAnotherOrchestratorFailsTheSearch() {
        try (Orchestrator other = Machines.orchestrator(1, 1).build()) {
            MappingId foreign = other.register("foreign").id();
            assertThat(foreign.slot()).isEqualTo(id.slot());
            CompletableFuture<Integer> answer = submit((query, context) -> sum(List.of(part(1, id), part(2, foreign))));
            assertThatThrownBy(answer::get)
                    .hasCauseInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("got foreign of a later one, or of another orchestrator");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noSliceBeginsAfterTheDeadlineOrACancellation(boolean cancelled) throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        AtomicInteger second = new AtomicInteger();
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        CompletableFuture<Integer> answer = submit(
                (query, context) -> {
                    first.countDown();
                    over.join();
                    while (!context.expired()) {
                        Thread.onSpinWait();
                    }
                    return new Step.Yield<>((same, later) -> {
                        second.incrementAndGet();
                        return Step.done(same);
                    });
                },
                cancelled ? SubmitOptions.DEFAULT : SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(300)));
        first.await();
        if (cancelled) {
            answer.cancel(false);
        }
        over.complete(true);
        if (!cancelled) {
            assertThatThrownBy(answer::get).hasCauseInstanceOf(DeadlineExceededException.class);
        }
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(second).hasValue(0);
        assertThat(orchestrator.stats(0).tasks().cancelled()).isEqualTo(cancelled ? 1 : 0);
        assertThat(orchestrator.stats(0).tasks().expired()).isEqualTo(cancelled ? 0 : 1);
    }

    @Test
    void aPartThatIsParkedEndsWithItsSearch() {
        Pending never = new Pending();
        List<Part<Integer, Integer>> parts = List.of(
                Part.inSteps((query, context) -> new Step.Park<>(never, (same, later) -> Step.done(same)), 1, id),
                part(2, id));
        CompletableFuture<Integer> answer = submit((query, context) -> sum(parts));
        while (Inside.pool(orchestrator).parked() == 0) {
            Thread.onSpinWait();
        }
        answer.cancel(false);
        orchestrator.indexing().quiesce().toCompletableFuture().join();
        assertThat(Inside.pool(orchestrator).parked()).isZero();
    }

    @Test
    void aForkFromOutsideIsAcceptedWithAllItsPartsOrNot() throws Exception {
        restart(Machines.orchestrator(1, 1).ringCapacity(3));
        occupy();
        AtomicInteger ran = new AtomicInteger();
        CompletableFuture<Integer> waits = orchestrator.submit((query, context) -> query, 5, id);
        List<Part<Integer, Integer>> three = IntStream.range(0, 3)
                .mapToObj(i -> new Part<Integer, Integer>((query, context) -> ran.incrementAndGet(), i, id))
                .toList();
        assertThatThrownBy(() -> orchestrator.indexing().submitFork(sum(three), 0, SubmitOptions.DEFAULT))
                .isInstanceOf(RejectedSearchException.class);
        CompletableFuture<Integer> two =
                orchestrator.indexing().submitFork(sum(three.subList(0, 2)), 0, SubmitOptions.DEFAULT);
        busyUntil.countDown();
        assertThat(waits.join()).isEqualTo(5);
        assertThat(two.join()).isEqualTo(3);
        assertThat(ran).hasValue(2);
    }

    @Test
    void aForkOfMorePartsThanTheRingsHoldIsAcceptedIfNothingElseWaits() throws Exception {
        restart(Machines.orchestrator(1, 2).ringCapacity(2));
        occupy();
        AtomicInteger ran = new AtomicInteger();
        List<Part<Integer, Integer>> nine = IntStream.range(0, 9)
                .mapToObj(i -> new Part<Integer, Integer>((query, context) -> ran.incrementAndGet(), i, id))
                .toList();
        CompletableFuture<Integer> sum = orchestrator.indexing().submitFork(sum(nine), 0, SubmitOptions.DEFAULT);
        busyUntil.countDown();
        assertThat(sum.get(20, TimeUnit.SECONDS)).isEqualTo(45);
        assertThat(ran).hasValue(9);
    }

    @Test
    void maintenanceRunsStepByStepAndSearchesGoFirst() throws Exception {
        AtomicInteger steps = new AtomicInteger();
        AtomicInteger max = new AtomicInteger();
        CompletableFuture<Void> endless = orchestrator.indexing().maintenance(id, context -> {
            steps.incrementAndGet();
            return true;
        });
        for (int i = 0; i < 200; i++) {
            assertThat(orchestrator.submit((query, context) -> query, i, id).join())
                    .isEqualTo(i);
        }
        CompletableFuture<Void> counted =
                orchestrator.indexing().maintenance(id, context -> max.incrementAndGet() < 1_000);
        counted.get(20, TimeUnit.SECONDS);
        assertThat(max).hasValue(1_000);
        assertThat(steps.get()).isPositive();
        IllegalStateException broken = new IllegalStateException("a step that fails");
        CompletableFuture<Void> fails = orchestrator.indexing().maintenance(id, context -> {
            throw broken;
        });
        assertThatThrownBy(fails::get).hasCause(broken);
        assertThat(endless.cancel(false)).isTrue();
    }
}
