package io.github.roost.core;

import static io.github.roost.core.TestBed.await;
import static io.github.roost.core.TestBed.get;
import static io.github.roost.core.TestBed.holding;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.testkit.Machines;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The turns of one worker while interactive searches wait for it at every moment. All that waits has been submitted before the first turn, and
 * the turns are counted, so that the load of the machine does not matter.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PriorityTest {
    private static final int INTERACTIVE = 960;
    /** Documented is one turn of batch work per 32 of interactive searches; more or fewer by this factor are tolerated. */
    private static final int TURNS_PER_BATCH_TURN = 32;

    private static final int TOLERANCE = 2;
    /** More than the rings of one worker have places for. */
    private static final int PARTS = 1_500;

    @RegisterExtension
    final TestBed bed = new TestBed();

    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicInteger batchTurns = new AtomicInteger();
    private Orchestrator orchestrator;
    private MappingId id;

    @BeforeEach
    void open() {
        bed.atEnd(() -> stop.set(true));
        orchestrator = bed.open(Machines.orchestrator(1, 1));
        id = orchestrator.register("table").id();
    }

    /** Batch work of many turns. */
    enum Batch {
        ONE_SLICE {
            @Override
            void submit(PriorityTest test) {
                for (int i = 0; i < 200; i++) {
                    var _ = test.orchestrator.submit(
                            (query, context) -> test.batchTurns.incrementAndGet(), i, test.id, SubmitOptions.BATCH);
                }
            }
        },
        YIELDING {
            @Override
            void submit(PriorityTest test) {
                test.submitLoops(SubmitOptions.BATCH, test.batchTurns, Step.Yield::new);
            }
        },
        /** All bytes that these searches wait for have arrived before, as from a disk whose blocks are cached. */
        PARKING {
            @Override
            void submit(PriorityTest test) {
                test.submitLoops(SubmitOptions.BATCH, test.batchTurns, PriorityTest::parkInVain);
            }
        },
        FANNED_OUT {
            @Override
            void submit(PriorityTest test) {
                var _ = test.orchestrator.fanOut(test.parts(), List::size, SubmitOptions.BATCH);
            }
        },
        FORKED {
            @Override
            void submit(PriorityTest test) {
                Search<Integer, Integer> forking = (query, context) -> Step.fork(test.parts(), List::size);
                var _ = test.orchestrator.indexing().submitSteps(forking, 0, test.id, SubmitOptions.BATCH);
            }
        };

        abstract void submit(PriorityTest test);
    }

    @ParameterizedTest
    @EnumSource
    void batchWorkGetsFewTurnsWhileInteractiveSearchesWaitButSome(Batch batch) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = bed.gate();
        var _ = orchestrator.submit(holding(begun, gate), 0, id);
        await(begun);
        batch.submit(this);
        AtomicInteger before = new AtomicInteger(-1);
        List<CompletableFuture<Integer>> searches = new ArrayList<>();
        for (int i = 0; i < INTERACTIVE; i++) {
            searches.add(orchestrator.submit(
                    (query, context) -> {
                        before.compareAndSet(-1, batchTurns.get());
                        return batchTurns.get();
                    },
                    i,
                    id));
        }
        gate.countDown();
        List<Integer> turns = new ArrayList<>();
        for (CompletableFuture<Integer> search : searches) {
            turns.add(get(search));
        }
        assertThat(Collections.max(turns) - Math.max(0, before.get()))
                .isBetween(
                        INTERACTIVE / TURNS_PER_BATCH_TURN / TOLERANCE, INTERACTIVE / TURNS_PER_BATCH_TURN * TOLERANCE);
        assertThat(before.get()).as("turns before the first interactive search").isLessThanOrEqualTo(TOLERANCE);
    }

    @Test
    void interactiveSearchesWhoseBytesAreThereDoNotStarveNewOnes() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        submitLoops(SubmitOptions.DEFAULT, turns, PriorityTest::parkInVain);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = bed.gate();
        var _ = orchestrator.submit(holding(begun, gate), 0, id);
        await(begun);
        int before = turns.get();
        List<CompletableFuture<Integer>> searches = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            searches.add(orchestrator.submit((query, context) -> turns.get(), i, id));
        }
        gate.countDown();
        int after = 0;
        for (CompletableFuture<Integer> search : searches) {
            after = Math.max(after, get(search));
        }
        assertThat((after - before) / searches.size())
                .as("turns of parked searches per new search")
                .isLessThanOrEqualTo(100);
    }

    /** How a search goes on that ends its turn. */
    private interface Turn {
        Step<Integer, Integer> before(Search<Integer, Integer> next);
    }

    private static Step<Integer, Integer> parkInVain(Search<Integer, Integer> next) {
        Pending pending = new Pending();
        pending.complete();
        return new Step.Park<>(pending, next);
    }

    /** Submits four searches that take turns until the test ends. */
    private void submitLoops(SubmitOptions options, AtomicInteger turns, Turn turn) {
        Search<Integer, Integer> loop = new Search<>() {
            @Override
            public Step<Integer, Integer> step(Integer query, SearchContext context) {
                turns.incrementAndGet();
                return stop.get() ? Step.done(query) : turn.before(this);
            }
        };
        for (int i = 0; i < 4; i++) {
            var _ = orchestrator.indexing().submitSteps(loop, i, id, options);
        }
    }

    private List<Part<Integer, Integer>> parts() {
        SearchFunction<Integer, Integer> part = (query, context) -> batchTurns.incrementAndGet();
        return Collections.nCopies(PARTS, new Part<>(part, 0, id));
    }
}
