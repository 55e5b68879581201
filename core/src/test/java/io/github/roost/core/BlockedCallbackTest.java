package io.github.roost.core;

import static io.github.roost.core.TestBed.SAME;
import static io.github.roost.core.TestBed.await;
import static io.github.roost.core.TestBed.get;
import static io.github.roost.core.TestBed.holding;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Dependents of Roost's futures and stages that block, in whichever thread runs them. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BlockedCallbackTest {
    @RegisterExtension
    final TestBed bed = new TestBed();

    /** A dependent that blocks until the test ends. */
    private Runnable blocking(CountDownLatch begun) {
        CountDownLatch gate = bed.gate();
        return () -> {
            begun.countDown();
            try {
                gate.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
    }

    /** A stage that the end of the last search of an epoch completes. */
    enum Stage {
        QUIESCE {
            @Override
            CompletionStage<Void> of(Orchestrator orchestrator) {
                return orchestrator.indexing().quiesce();
            }
        },
        RETIRED {
            @Override
            CompletionStage<Void> of(Orchestrator orchestrator) {
                CompletionStage<Void> stage =
                        orchestrator.indexing().retired(orchestrator.mapping().epoch());
                var _ = orchestrator.indexing().quiesce();
                return stage;
            }
        };

        abstract CompletionStage<Void> of(Orchestrator orchestrator);
    }

    @ParameterizedTest
    @EnumSource
    void aDependentOfAnEpochsEndHoldsNoWorker(Stage stage) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = bed.gate();
        CompletableFuture<Integer> search = orchestrator.submit(holding(begun, gate), 1, id);
        await(begun);
        CountDownLatch blocks = new CountDownLatch(1);
        var _ = stage.of(orchestrator).thenRun(blocking(blocks));
        gate.countDown();
        assertThat(get(search)).isOne();
        await(blocks);
        assertThat(get(orchestrator.submit(SAME, 2, id))).isEqualTo(2);
    }

    /** How the future completes whose dependent blocks. */
    enum End {
        RESULT {
            @Override
            CompletableFuture<Integer> of(Orchestrator orchestrator, MappingId id, CountDownLatch gate) {
                return orchestrator.submit(holding(new CountDownLatch(1), gate), 1, id);
            }
        },
        FAILURE {
            @Override
            CompletableFuture<Integer> of(Orchestrator orchestrator, MappingId id, CountDownLatch gate) {
                return orchestrator.submit(
                        (query, context) -> {
                            gate.await();
                            throw new IllegalStateException("on purpose");
                        },
                        1,
                        id);
            }
        },
        DEADLINE_OF_A_PARKED_SEARCH {
            @Override
            CompletableFuture<Integer> of(Orchestrator orchestrator, MappingId id, CountDownLatch gate) {
                return orchestrator
                        .indexing()
                        .submitSteps(
                                (query, context) -> {
                                    gate.await();
                                    return new Step.Park<>(new Pending(), (same, then) -> Step.done(same));
                                },
                                1,
                                id,
                                SubmitOptions.DEFAULT.withTimeout(Duration.ofMillis(50)));
            }
        },
        MAINTENANCE {
            @Override
            CompletableFuture<Void> of(Orchestrator orchestrator, MappingId id, CountDownLatch gate) {
                return orchestrator.indexing().maintenance(id, context -> {
                    gate.await();
                    return false;
                });
            }
        };

        abstract CompletableFuture<?> of(Orchestrator orchestrator, MappingId id, CountDownLatch gate);
    }

    @ParameterizedTest
    @EnumSource
    void aDependentThatBlocksItsWorkerLeavesSearchesToTheOthersOfTheDomain(End end) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 2));
        Registration table = orchestrator.register("table", 16);
        CountDownLatch gate = bed.gate();
        CountDownLatch blocks = new CountDownLatch(1);
        CompletableFuture<?> future = end.of(orchestrator, table.id(0), gate);
        Runnable blocking = blocking(blocks);
        var _ = future.whenComplete((result, failure) -> blocking.run());
        gate.countDown();
        await(blocks);
        for (int i = 0; i < 64; i++) {
            assertThat(get(orchestrator.submit(SAME, i, table.id(i % 16)))).isEqualTo(i);
        }
    }

    /** The dependents of what a close fails run in the closing thread. */
    @Tag("stress")
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void dependentsThatCloseDoNotKeepACloseFromReturning(int closing) throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CountDownLatch begun = new CountDownLatch(1);
        List<CompletableFuture<Integer>> searches = new ArrayList<>();
        searches.add(orchestrator.submit(holding(begun, bed.gate()), 0, id));
        await(begun);
        AtomicInteger returned = new AtomicInteger();
        List<CompletableFuture<Boolean>> dependents = new ArrayList<>();
        for (int i = 0; i < closing; i++) {
            Function<Throwable, Boolean> close = failure -> {
                boolean drained = orchestrator.close(Duration.ZERO);
                returned.incrementAndGet();
                return drained;
            };
            searches.add(orchestrator.submit(SAME, i, id));
            dependents.add(searches.getLast().handle((result, failure) -> close.apply(failure)));
        }
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        Thread.ofPlatform()
                .daemon()
                .name("closer")
                .start(() -> closed.complete(orchestrator.close(Duration.ofMillis(10))));
        assertThat(get(closed)).isFalse();
        for (CompletableFuture<Boolean> dependent : dependents) {
            assertThat(get(dependent)).isFalse();
        }
        assertThat(returned).hasValue(closing);
        assertThat(searches).allSatisfy(search -> assertThat(search).isCompletedExceptionally());
    }

    @Test
    void aSecondCloserWaitsForTheFirstAndGetsItsResult() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = bed.gate();
        CompletableFuture<Integer> search = orchestrator.submit(holding(begun, gate), 1, id);
        await(begun);
        List<CompletableFuture<Boolean>> closers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Boolean> closed = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> closed.complete(orchestrator.close(Duration.ofSeconds(30))));
            closers.add(closed);
        }
        gate.countDown();
        for (CompletableFuture<Boolean> closer : closers) {
            assertThat(get(closer)).isTrue();
        }
        assertThat(get(search)).isOne();
    }
}
