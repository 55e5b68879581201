package io.github.roost.core;

import static io.github.roost.core.TestBed.SAME;
import static io.github.roost.core.TestBed.await;
import static io.github.roost.core.TestBed.done;
import static io.github.roost.core.TestBed.get;
import static io.github.roost.core.TestBed.holding;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Searches that wait in the ring of a busy worker and whose results are no longer needed. The worker is busy until the test ends. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class QueuedDeadlineTest {
    private static final int PLACES = 4;
    private static final Duration SHORT = Duration.ofMillis(20);

    @RegisterExtension
    final TestBed bed = new TestBed();

    private final CountDownLatch gate = bed.gate();
    private final AtomicInteger ran = new AtomicInteger();
    private final SearchFunction<Integer, Integer> counted = (query, context) -> ran.incrementAndGet();
    private Orchestrator orchestrator;
    private Registration table;

    @BeforeEach
    void open() {
        orchestrator = bed.open(Machines.orchestrator(1, 1).ringCapacity(PLACES));
        table = orchestrator.register("table", 2);
    }

    private void occupyTheWorker() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        var _ = orchestrator.submit(holding(begun, gate), 0, table.id(0));
        await(begun);
    }

    /** How a search comes to wait in a queue. */
    enum Queued {
        SEARCH {
            @Override
            CompletableFuture<Integer> behindABusyWorker(QueuedDeadlineTest test) throws Exception {
                test.occupyTheWorker();
                return test.orchestrator.submit(
                        test.counted, 0, test.table.id(0), SubmitOptions.DEFAULT.withTimeout(SHORT));
            }
        },
        BATCH_SEARCH {
            @Override
            CompletableFuture<Integer> behindABusyWorker(QueuedDeadlineTest test) throws Exception {
                test.occupyTheWorker();
                return test.orchestrator.submit(
                        test.counted, 0, test.table.id(0), SubmitOptions.BATCH.withTimeout(SHORT));
            }
        },
        STEPS {
            @Override
            CompletableFuture<Integer> behindABusyWorker(QueuedDeadlineTest test) throws Exception {
                test.occupyTheWorker();
                return test.orchestrator
                        .indexing()
                        .submitSteps(test.counted, 0, test.table.id(0), SubmitOptions.DEFAULT.withTimeout(SHORT));
            }
        },
        FAN_OUT {
            @Override
            CompletableFuture<Integer> behindABusyWorker(QueuedDeadlineTest test) throws Exception {
                test.occupyTheWorker();
                return test.orchestrator.fanOut(
                        BlockedWorkers.parts(test.table, test.counted),
                        List::size,
                        SubmitOptions.DEFAULT.withTimeout(SHORT));
            }
        },
        SHARED {
            @Override
            CompletableFuture<Integer> behindABusyWorker(QueuedDeadlineTest test) throws Exception {
                test.occupyTheWorker();
                return test.orchestrator
                        .indexing()
                        .submitShared(
                                test.orchestrator.indexing().batchQueue(test.table.id(0), (group, context) -> {
                                    for (int i = 0; i < group.size(); i++) {
                                        if (!group.expired(i)) {
                                            group.answer(i, test.ran.incrementAndGet());
                                        }
                                    }
                                    return Step.done(true);
                                }),
                                0,
                                SubmitOptions.DEFAULT.withTimeout(SHORT));
            }
        },
        YIELDED {
            @Override
            CompletableFuture<Integer> behindABusyWorker(QueuedDeadlineTest test) throws Exception {
                CountDownLatch begun = new CountDownLatch(1);
                CountDownLatch blocked = new CountDownLatch(1);
                Search<Integer, Integer> yielding = (query, context) -> {
                    begun.countDown();
                    blocked.await();
                    return new Step.Yield<>(test.counted);
                };
                CompletableFuture<Integer> search = test.orchestrator
                        .indexing()
                        .submitSteps(
                                yielding,
                                0,
                                test.table.id(0),
                                SubmitOptions.DEFAULT.withTimeout(SHORT.multipliedBy(20)));
                await(begun);
                CountDownLatch holds = new CountDownLatch(1);
                var _ = test.orchestrator.submit(holding(holds, test.gate), 0, test.table.id(0));
                blocked.countDown();
                await(holds);
                return search;
            }
        },
        RESUMED {
            @Override
            CompletableFuture<Integer> behindABusyWorker(QueuedDeadlineTest test) throws Exception {
                Pending bytes = new Pending();
                CountDownLatch begun = new CountDownLatch(1);
                Search<Integer, Integer> parking = (query, context) -> {
                    begun.countDown();
                    return new Step.Park<>(bytes, test.counted);
                };
                CompletableFuture<Integer> search = test.orchestrator
                        .indexing()
                        .submitSteps(
                                parking,
                                0,
                                test.table.id(0),
                                SubmitOptions.DEFAULT.withTimeout(SHORT.multipliedBy(20)));
                await(begun);
                test.occupyTheWorker();
                bytes.complete();
                return search;
            }
        };

        abstract CompletableFuture<Integer> behindABusyWorker(QueuedDeadlineTest test) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void aQueuedSearchFailsAtItsDeadlineWhileItsWorkerIsBusy(Queued queued) throws Exception {
        CompletableFuture<Integer> search = queued.behindABusyWorker(this);
        assertThatThrownBy(() -> get(search))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(DeadlineExceededException.class);
        gate.countDown();
        assertThat(get(orchestrator.submit(SAME, 1, table.id(0)))).isOne();
        assertThat(ran).as("slices begun after the deadline").hasValue(0);
    }

    /** How the result of a queued search is no longer needed. */
    enum Abandoned {
        EXPIRED {
            @Override
            CompletableFuture<Integer> submit(QueuedDeadlineTest test) {
                return test.orchestrator.submit(
                        test.counted, 0, test.table.id(0), SubmitOptions.DEFAULT.withTimeout(SHORT));
            }
        },
        CANCELLED {
            @Override
            CompletableFuture<Integer> submit(QueuedDeadlineTest test) {
                CompletableFuture<Integer> search = test.orchestrator.submit(test.counted, 0, test.table.id(0));
                search.cancel(true);
                return search;
            }
        },
        TIMED_OUT {
            @Override
            CompletableFuture<Integer> submit(QueuedDeadlineTest test) {
                return test.orchestrator
                        .submit(test.counted, 0, test.table.id(0))
                        .orTimeout(SHORT.toMillis(), TimeUnit.MILLISECONDS);
            }
        },
        COMPLETED_BY_OTHERS {
            @Override
            CompletableFuture<Integer> submit(QueuedDeadlineTest test) {
                CompletableFuture<Integer> search = test.orchestrator.submit(test.counted, 0, test.table.id(0));
                search.complete(7);
                return search;
            }
        },
        CANCELLED_BATCH {
            @Override
            CompletableFuture<Integer> submit(QueuedDeadlineTest test) {
                CompletableFuture<Integer> search =
                        test.orchestrator.submit(test.counted, 0, test.table.id(0), SubmitOptions.BATCH);
                search.cancel(true);
                return search;
            }
        };

        abstract CompletableFuture<Integer> submit(QueuedDeadlineTest test);
    }

    @ParameterizedTest
    @EnumSource
    void searchesWhoseResultsNobodyNeedsLeaveTheirPlacesToOthers(Abandoned abandoned) throws Exception {
        occupyTheWorker();
        for (int round = 0; round < 5; round++) {
            List<CompletableFuture<Integer>> searches = new ArrayList<>();
            for (int i = 0; i < PLACES; i++) {
                searches.add(abandoned.submit(this));
            }
            done(searches);
        }
        SubmitOptions options = abandoned == Abandoned.CANCELLED_BATCH ? SubmitOptions.BATCH : SubmitOptions.DEFAULT;
        List<CompletableFuture<Integer>> needed = new ArrayList<>();
        for (int i = 0; i < PLACES; i++) {
            needed.add(orchestrator.submit(SAME, i, table.id(0), options));
        }
        assertThatThrownBy(() -> orchestrator.submit(SAME, 0, table.id(0), options))
                .isInstanceOf(RejectedSearchException.class);
        gate.countDown();
        for (int i = 0; i < PLACES; i++) {
            assertThat(get(needed.get(i))).isEqualTo(i);
        }
        assertThat(ran).as("searches run whose results nobody needs").hasValue(0);
    }

    @ParameterizedTest
    @EnumSource(names = {"CANCELLED", "EXPIRED"})
    void thePartsOfAnAbandonedFanOutLeaveTheirPlacesToo(Abandoned abandoned) throws Exception {
        occupyTheWorker();
        for (int round = 0; round < 5; round++) {
            SubmitOptions options =
                    abandoned == Abandoned.EXPIRED ? SubmitOptions.DEFAULT.withTimeout(SHORT) : SubmitOptions.DEFAULT;
            List<CompletableFuture<Integer>> fanOuts = new ArrayList<>();
            for (int i = 0; i < PLACES / 2; i++) {
                fanOuts.add(orchestrator.fanOut(BlockedWorkers.parts(table, counted), List::size, options));
            }
            if (abandoned == Abandoned.CANCELLED) {
                fanOuts.forEach(fanOut -> fanOut.cancel(true));
            }
            done(fanOuts);
        }
        CompletableFuture<Integer> needed =
                orchestrator.fanOut(BlockedWorkers.parts(table, SAME), List::size, SubmitOptions.DEFAULT);
        gate.countDown();
        assertThat(get(needed)).isEqualTo(2);
        assertThat(ran).hasValue(0);
    }
}
