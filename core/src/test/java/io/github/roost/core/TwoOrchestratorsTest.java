package io.github.roost.core;

import static io.github.roost.core.TestBed.SAME;
import static io.github.roost.core.TestBed.await;
import static io.github.roost.core.TestBed.get;
import static io.github.roost.core.TestBed.holding;
import static io.github.roost.core.TestBed.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Machines;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Searches of one orchestrator that wait for searches of another, whose only worker is busy when the wait begins. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TwoOrchestratorsTest {
    private static final int WAITING = 4;
    private static final int IDS = 10_000;
    private static final int BYTES = 100;

    @RegisterExtension
    final TestBed bed = new TestBed();

    private Orchestrator large;
    private Orchestrator small;
    private MappingId ofLarge;
    private Registration ofSmall;
    private final CountDownLatch gate = bed.gate();

    @BeforeEach
    void open() throws Exception {
        large = bed.open(Machines.orchestrator(2, 2));
        small = bed.open(Machines.orchestrator(1, 1));
        ofLarge = large.register("large").id();
        ofSmall = small.register("small", IDS);
        CountDownLatch begun = new CountDownLatch(1);
        var _ = small.submit(holding(begun, gate), 0, ofSmall.id(0));
        await(begun);
    }

    /** What searches of the small one answer to searches of the large one that wait for them. */
    private <T> List<T> answers(SearchFunction<Integer, T> search, BiFunction<CompletableFuture<T>, Integer, T> wait)
            throws Exception {
        CountDownLatch waits = new CountDownLatch(WAITING);
        List<CompletableFuture<T>> outer = new ArrayList<>();
        for (int i = 0; i < WAITING; i++) {
            SearchFunction<Integer, T> waiting = (query, context) -> {
                CompletableFuture<T> inner = small.submit(search, query, ofSmall.id(IDS - 1 - query));
                waits.countDown();
                return wait.apply(inner, context.worker());
            };
            outer.add(large.submit(waiting, i, ofLarge));
        }
        await(waits);
        // Time for a wait that would run the search itself to do so.
        TimeUnit.MILLISECONDS.sleep(20);
        gate.countDown();
        List<T> answers = new ArrayList<>();
        for (CompletableFuture<T> one : outer) {
            answers.add(get(one));
        }
        return answers;
    }

    @Test
    void aSearchRunsOnAWorkerOfItsOwnOrchestrator() throws Exception {
        SearchFunction<Integer, String> place = (query, context) -> "worker " + context.worker() + " of domain "
                + context.domain() + ", on the small one " + small.indexing().calledOnWorker() + ", on the large one "
                + large.indexing().calledOnWorker();
        assertThat(answers(place, (inner, worker) -> inner.join()))
                .containsOnly("worker 0 of domain 0, on the small one true, on the large one false");
    }

    @Test
    void aTimedWaitDoesNotRunItElsewhereEither() throws Exception {
        SearchFunction<Integer, Boolean> place =
                (query, context) -> small.indexing().calledOnWorker();
        assertThat(answers(place, (inner, worker) -> {
                    try {
                        return inner.get(30, TimeUnit.SECONDS);
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                }))
                .containsOnly(true);
    }

    @Test
    void theSearchThatWaitsStaysOnItsWorker() throws Exception {
        SearchFunction<Integer, Boolean> same = (query, context) -> true;
        assertThat(answers(
                        same,
                        (inner, worker) ->
                                inner.join() && worker >= 0 && large.indexing().calledOnWorker()))
                .containsOnly(true);
    }

    @Test
    void trafficIsThatOfTheTableSearched() throws Exception {
        SearchFunction<Integer, Boolean> touching = (query, context) -> {
            context.touched(1, BYTES);
            return true;
        };
        assertThat(answers(touching, (inner, worker) -> inner.join())).containsOnly(true);
        // Tasks may be counted a moment after they end.
        until(() -> small.stats().tasks().completed() == WAITING + 1
                && large.stats().tasks().completed() == WAITING);
        long[] bytes = small.indexing().trafficBytes(ofSmall);
        for (int i = 0; i < WAITING; i++) {
            assertThat(bytes[IDS - 1 - i]).as("id %d", IDS - 1 - i).isEqualTo(BYTES);
        }
        assertThat(large.indexing().trafficBytes(ofLarge.registration())).containsExactly(0);
        assertThat(large.stats().broken()).isFalse();
        assertThat(small.stats().broken()).isFalse();
    }

    @Test
    void searchesThatWaitInTurnForEachOthersOrchestratorEnd() throws Exception {
        gate.countDown();
        List<CompletableFuture<Integer>> searches = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            searches.add(large.submit((query, context) -> alternating(query), 6, ofLarge));
        }
        for (CompletableFuture<Integer> search : searches) {
            assertThat(get(search)).isEqualTo(6);
        }
        assertThat(get(small.submit(SAME, 1, ofSmall.id(0)))).isOne();
    }

    /** Waits on a worker of one orchestrator for a search of the other, which does the same. */
    private int alternating(int levels) {
        if (levels == 0) {
            return 0;
        }
        SearchFunction<Integer, Integer> next = (query, context) -> alternating(query);
        CompletableFuture<Integer> inner = small.indexing().calledOnWorker()
                ? large.submit(next, levels - 1, ofLarge)
                : small.submit(next, levels - 1, ofSmall.id(levels));
        return 1 + inner.join();
    }
}
