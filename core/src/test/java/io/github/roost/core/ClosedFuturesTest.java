package io.github.roost.core;

import static io.github.roost.core.TestBed.SAME;
import static io.github.roost.core.TestBed.await;
import static io.github.roost.core.TestBed.done;
import static io.github.roost.core.TestBed.holding;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A close that waits for nothing leaves no future open, although the worker is still busy. */
@Tag("stress")
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClosedFuturesTest {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(5);

    @RegisterExtension
    final TestBed bed = new TestBed();

    /** What a future is of; each waits behind the search that holds the only worker. */
    enum Kind {
        SEARCH {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator.submit(SAME, 1, table.id(0));
            }
        },
        BATCH_SEARCH {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator.submit(SAME, 1, table.id(0), SubmitOptions.BATCH);
            }
        },
        STEPS {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator.indexing().submitSteps(SAME, 1, table.id(0), SubmitOptions.DEFAULT);
            }
        },
        FAN_OUT {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator.fanOut(BlockedWorkers.parts(table, SAME), List::size);
            }
        },
        SHARED {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator
                        .indexing()
                        .submitShared(
                                orchestrator
                                        .indexing()
                                        .<Integer, Integer>batchQueue(table.id(0), (group, context) -> Step.done(true)),
                                1,
                                SubmitOptions.DEFAULT);
            }
        },
        MAINTENANCE {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator.indexing().maintenance(table.id(0), context -> true);
            }
        },
        EXECUTOR_SUBMIT {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator.executor(table.id(0)).submit(() -> 1);
            }
        },
        SUPPLY_ASYNC {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return CompletableFuture.supplyAsync(() -> 1, orchestrator.executor(table.id(0)));
            }
        },
        RUN_ASYNC {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return CompletableFuture.runAsync(() -> {}, orchestrator.executor(table.id(0)));
            }
        },
        DEPENDENT {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator.submit(SAME, 1, table.id(0)).thenApply(value -> value + 1);
            }
        },
        COMPOSED {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator
                        .submit(SAME, 1, table.id(0))
                        .exceptionallyCompose(failure -> orchestrator.submit(SAME, 2, table.id(1)));
            }
        },
        /** An asynchronous stage on the view; its task is submitted when the search is failed. */
        DEPENDENT_ON_THE_VIEW {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator
                        .submit(SAME, 1, table.id(0))
                        .handleAsync((value, failure) -> 1, orchestrator.executor(table.id(0)));
            }
        },
        QUIESCE {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator.indexing().quiesce().toCompletableFuture();
            }
        },
        RETIRED {
            @Override
            Future<?> of(Orchestrator orchestrator, Registration table) {
                return orchestrator
                        .indexing()
                        .retired(orchestrator.mapping().epoch())
                        .toCompletableFuture();
            }
        };

        abstract Future<?> of(Orchestrator orchestrator, Registration table);
    }

    @Test
    void noFutureIsLeftOpen() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        Registration table = orchestrator.register("table", 2);
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Integer> running = orchestrator.submit(holding(begun, bed.gate()), 1, table.id(0));
        await(begun);
        Map<Kind, Future<?>> futures = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            futures.put(kind, kind.of(orchestrator, table));
        }
        assertThat(orchestrator.close(Duration.ZERO)).isFalse();
        done(List.of(running));
        long began = System.nanoTime();
        while (!futures.isEmpty() && System.nanoTime() - began < LIMIT_NANOS) {
            futures.values().removeIf(Future::isDone);
            TimeUnit.MILLISECONDS.sleep(1);
        }
        assertThat(futures.keySet()).as("futures left open").isEmpty();
    }

    @Test
    void noSearchThatIsParkedIsLeftOpen() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        List<Future<?>> futures = new ArrayList<>();
        CountDownLatch parks = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            Search<Integer, Integer> parking = (query, context) -> {
                parks.countDown();
                return new Step.Park<>(new Pending(), SAME);
            };
            futures.add(orchestrator.indexing().submitSteps(parking, i, id, SubmitOptions.DEFAULT));
        }
        await(parks);
        futures.add(orchestrator.indexing().quiesce().toCompletableFuture());
        assertThat(orchestrator.close(Duration.ZERO)).isFalse();
        done(futures);
    }

    /** Memory that only the running search sees may be reclaimed after the stage: it must not say so too early. */
    @Test
    void theStageOfAnEpochWhoseSearchStillRunsDoesNotCompleteWithSuccess() throws Exception {
        Orchestrator orchestrator = bed.open(Machines.orchestrator(1, 1));
        MappingId id = orchestrator.register("table").id();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = bed.gate();
        CountDownLatch ends = new CountDownLatch(1);
        var _ = orchestrator.submit(
                (query, context) -> {
                    begun.countDown();
                    boolean waits = true;
                    while (waits) {
                        try {
                            gate.await();
                            waits = false;
                        } catch (InterruptedException again) {
                            // It reads the memory for as long as the test wants.
                        }
                    }
                    ends.countDown();
                    return query;
                },
                1,
                id);
        await(begun);
        CompletableFuture<Void> stage = orchestrator.indexing().quiesce().toCompletableFuture();
        assertThat(orchestrator.close(Duration.ZERO)).isFalse();
        assertThat(ends.getCount()).isOne();
        assertThat(stage.isDone() && !stage.isCompletedExceptionally())
                .as("the stage has completed while the search runs")
                .isFalse();
    }
}
