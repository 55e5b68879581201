package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.Part;
import io.github.roost.core.Registration;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs a little of everything and has an error thrown at the n-th point between "taken" and "answered", for every n. Whatever
 * it strikes, all that was accepted is answered, nothing is left in an epoch, and the workers go on.
 */
@Tag("stress")
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FaultInjectionTest {
    private static final int WAIT_SECONDS = 20;

    private final AtomicInteger points = new AtomicInteger();

    /** What is thrown at a point. */
    enum Fault {
        NO_MEMORY,
        NO_STACK;

        Error error() {
            return this == NO_MEMORY ? new OutOfMemoryError("injected") : new StackOverflowError("injected");
        }
    }

    @AfterEach
    void noMoreFaults() {
        Faults.at(null);
    }

    @Test
    void theHookIsOnInTheseTests() {
        assertThat(Faults.ON).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, 64, NO_MEMORY, 1", "1, 1, 64, NO_STACK, 1", "2, 2, 64, NO_MEMORY, 1", "2, 2, 64, NO_STACK, 1",
        "1, 1, 64, NO_MEMORY, 3", "2, 2, 64, NO_MEMORY, 3", "1, 1, 1, NO_MEMORY, 1", "2, 2, 1, NO_MEMORY, 3"
    })
    void whereverAnErrorStrikesNothingIsLost(int domains, int cores, int ringCapacity, Fault fault, int inARow)
            throws Exception {
        int max = Integer.MAX_VALUE;
        for (int n = 1; n <= max; n++) {
            int thrown = strike(domains, cores, ringCapacity, fault, n, inARow);
            // With several workers the number of points varies.
            max = n == 1 ? thrown : Math.max(max, Math.min(thrown, max + 1));
            if (thrown < n) {
                break;
            }
        }
        assertThat(max).isGreaterThan(50);
    }

    /** Runs everything with errors from the n-th point on; how many points there were. */
    private int strike(int domains, int cores, int ringCapacity, Fault fault, int n, int inARow) throws Exception {
        String what = fault + " at point " + n + " to " + (n + inARow - 1);
        StackTraceElement[][] where = new StackTraceElement[1][];
        points.set(0);
        Orchestrator orchestrator = Machines.orchestrator(domains, cores)
                .ringCapacity(ringCapacity)
                .overloadPolicy(ringCapacity == 1 ? OverloadPolicy.callerRuns() : OverloadPolicy.reject())
                .crossDomainGate(new CrossDomainGate(1, 0))
                .build();
        try (Completions completions = new Completions(n)) {
            Registration ids = orchestrator.register("table", 4);
            Registration small = orchestrator.register("small");
            Faults.at(() -> {
                int point = points.incrementAndGet();
                if (point >= n && point < n + inARow) {
                    where[0] = Thread.currentThread().getStackTrace();
                    throw fault.error();
                }
            });
            List<CompletableFuture<?>> accepted = submitAll(orchestrator, ids, completions);
            await(accepted, what, where);
            int seen = points.get();
            Faults.at(null);
            await(
                    List.of(orchestrator.submit((query, context) -> query, 1, small.id())),
                    "new work after " + what,
                    where);
            await(List.of(orchestrator.indexing().quiesce().toCompletableFuture()), "the epoch after " + what, where);
            for (int id = 0; id < 4; id++) {
                await(
                        List.of(orchestrator.submit((query, context) -> query, 1, ids.id(id), SubmitOptions.BATCH)),
                        "new batch work after " + what,
                        where);
            }
            assertThat(orchestrator.close(Duration.ofSeconds(WAIT_SECONDS)))
                    .as("close after %s", what)
                    .isTrue();
            return seen;
        }
    }

    private static void await(List<? extends CompletableFuture<?>> futures, String what, StackTraceElement[][] where)
            throws Exception {
        int index = 0;
        for (CompletableFuture<?> future : futures) {
            try {
                future.get(WAIT_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException | java.util.concurrent.CancellationException over) {
                // Done is what counts.
            } catch (TimeoutException e) {
                AssertionError lost = new AssertionError(what + " loses number " + index, e);
                if (where[0] != null) {
                    lost.setStackTrace(where[0]);
                }
                throw lost;
            }
            index++;
        }
    }

    private static List<CompletableFuture<?>> submitAll(
            Orchestrator orchestrator, Registration ids, Completions completions) {
        List<CompletableFuture<?>> accepted = new ArrayList<>();
        List<Callable<CompletableFuture<?>>> all = new ArrayList<>();
        MappingId id = ids.id(0);
        for (int i = 0; i < 3; i++) {
            all.add(() -> orchestrator.submit((query, context) -> query, 1, id));
        }
        all.add(() -> orchestrator.submit(
                (query, context) -> {
                    throw new IllegalStateException("a search that fails");
                },
                1,
                id));
        List<Part<Integer, Integer>> parts = IntStream.range(0, 4)
                .mapToObj(i -> new Part<Integer, Integer>((query, context) -> query, i, ids.id(i)))
                .toList();
        all.add(() -> orchestrator.fanOut(parts, results -> results.size()));
        all.add(() -> steps(orchestrator, ids, completions, SubmitOptions.DEFAULT));
        all.add(() -> steps(orchestrator, ids, completions, SubmitOptions.BATCH));
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator.indexing().batchQueue(id, group(completions));
        for (int i = 0; i < 4; i++) {
            int query = i;
            all.add(() -> orchestrator.indexing().submitShared(queue, query, SubmitOptions.DEFAULT));
        }
        all.add(() -> orchestrator.indexing().submitShared(queue, 5, SubmitOptions.BATCH));
        AtomicInteger left = new AtomicInteger(3);
        all.add(() -> orchestrator.indexing().maintenance(id, context -> left.decrementAndGet() > 0));
        // A search that waits for its child, and for what follows it.
        all.add(() -> orchestrator.submit(
                (query, context) -> orchestrator
                        .submit((inner, innerContext) -> inner + 1, query, ids.id(1))
                        .thenApply(found -> found + 1)
                        .join(),
                1,
                id));
        // Parked for ever: ended by a deadline, and by its caller.
        Search<Integer, Integer> never = (query, context) ->
                new Step.Park<>(completions.ask(Completions.Kind.NEVER), (same, later) -> Step.done(0));
        all.add(() -> orchestrator
                .indexing()
                .submitSteps(never, 1, id, SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(2))));
        all.add(() -> {
            CompletableFuture<Integer> given = orchestrator.indexing().submitSteps(never, 1, id, SubmitOptions.DEFAULT);
            given.cancel(false);
            return given;
        });
        for (Callable<CompletableFuture<?>> submission : all) {
            try {
                accepted.add(submission.call());
            } catch (Throwable refused) {
                // Struck as it was submitted, or refused for that.
                assertThatCode(completions::late).doesNotThrowAnyException();
            }
        }
        return accepted;
    }

    /** Yields, parks, forks into parts that park themselves and share a batch queue, and ends. */
    private static CompletableFuture<Integer> steps(
            Orchestrator orchestrator, Registration ids, Completions completions, SubmitOptions options) {
        Indexing.BatchQueue<Integer, Integer> queue = orchestrator.indexing().batchQueue(ids.id(2), group(completions));
        Search<Integer, Integer> last = (query, context) -> {
            List<Part<Integer, Integer>> parts = List.of(
                    new Part<>((part, partContext) -> part, 1, ids.id(1)),
                    Part.inSteps(
                            (part, partContext) -> new Step.Park<>(
                                    completions.ask(Completions.Kind.SOON), (same, later) -> Step.done(same)),
                            2,
                            ids.id(3)));
            return new Step.Fork<Integer, Integer, Integer, Integer>(
                    parts,
                    List.of(queue),
                    7,
                    (same, results, later) -> Step.done(
                            results.stream().mapToInt(Integer::intValue).sum()));
        };
        Search<Integer, Integer> parks = (query, context) -> {
            context.touched(1, 100);
            return new Step.Park<>(completions.ask(Completions.Kind.SOON), last);
        };
        Search<Integer, Integer> yields = (query, context) -> new Step.Yield<>(parks);
        return orchestrator.indexing().submitSteps(yields, 1, ids.id(0), options);
    }

    private static Indexing.GroupSearch<Integer, Integer> group(Completions completions) {
        return (group, context) -> new Step.Park<>(completions.ask(Completions.Kind.SOON), (same, later) -> {
            for (int i = 0; i < same.size(); i++) {
                same.answer(i, same.query(i) + 1);
            }
            return Step.done(true);
        });
    }
}
