package io.github.roost.vector.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rows are numbers on a line, each its own id. Time passes only when a test says so. */
@Timeout(60)
class RecallMeterTest {
    private static final int K = 10;
    private static final SearchRequest REQUEST = SearchRequest.of(new float[] {0}, K);
    private static final long SCAN_NANOS = 3_000_000;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read())
            .recallShare(.01)
            .recallAlarm(.8)
            .build();
    private final Registration table = orchestrator.register("table");
    private final AtomicInteger rows = new AtomicInteger(10_000);
    private final AtomicLong changes = new AtomicLong();
    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger repeated = new AtomicInteger();
    private volatile BiFunction<SearchRequest, SearchContext, SearchResult> exact = (request, context) -> {
        repeated.incrementAndGet();
        clock.addAndGet(SCAN_NANOS);
        return nearest(request.k());
    };

    private final RecallEfforts efforts =
            new RecallEfforts(orchestrator, (recall, k) -> 100, rows::get, (effort, k) -> effort);
    private final RecallMeter meter = new RecallMeter(
            orchestrator,
            table,
            rows::get,
            changes::get,
            (request, context) -> exact.apply(request, context),
            efforts,
            clock::get);

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private static SearchResult nearest(int k) {
        return found(0, k);
    }

    /** The rows from a number on. */
    private static SearchResult found(int from, int k) {
        long[] ids = new long[k];
        float[] distances = new float[k];
        Arrays.setAll(ids, i -> from + i);
        for (int i = 0; i < k; i++) {
            distances[i] = from + i;
        }
        return new SearchResult(ids, distances);
    }

    /** Makes searches of one kind until one of them has been repeated. */
    private void measure(SearchRequest request, SearchResult result) throws InterruptedException {
        search(request, result, afterPause());
    }

    /** Ends the pause; what it returns is over when the next repetition is. */
    private Until afterPause() {
        long until = meter.pausedUntil();
        clock.accumulateAndGet(until, Math::max);
        return () -> meter.pausedUntil() != until;
    }

    private static void await(Until until) throws InterruptedException {
        while (!until.isOver()) {
            Thread.sleep(1);
        }
    }

    private interface Until {
        boolean isOver();
    }

    private void search(SearchRequest request, SearchResult result, Until until) throws InterruptedException {
        while (!until.isOver()) {
            var _ = meter.watch(request, CompletableFuture.completedFuture(result))
                    .join();
            Thread.sleep(0, 100_000);
        }
    }

    private Registration.Recall recall() {
        return Objects.requireNonNull(table.recall());
    }

    @Test
    void theRecallIsTheShareOfTheTrueRowsThatSearchesFound() throws InterruptedException {
        for (int i = 0; i < 30; i++) {
            measure(REQUEST, found(i % 2 == 0 ? 0 : 4, K));
        }
        assertThat(recall().recall()).isCloseTo(.8, within(1e-9));
        assertThat(recall().low()).isBetween(.6, .79);
        assertThat(recall().high()).isBetween(.81, .95);
        assertThat(recall())
                .extracting(Registration.Recall::samples, Registration.Recall::k)
                .containsExactly(30L, 10.);
    }

    @Test
    void ofAnyNumberOfSearchesOneIsRepeatedInAPauseAndItTakesItsShareOfAllWorkersTime() throws InterruptedException {
        Registration another = orchestrator.register("another");
        assertThat(meter.pausedUntil()).isEqualTo(RecallMeter.FIRST_PAUSE_NANOS);
        measure(REQUEST, nearest(K));
        for (int i = 0; i < 1_000; i++) {
            CompletableFuture<SearchResult> search = CompletableFuture.completedFuture(nearest(K));
            assertThat(meter.watch(REQUEST, search)).isSameAs(search);
        }
        assertThat(repeated).hasValue(1);
        // 2 tables share .01 of 2 workers.
        assertThat(meter.pausedUntil() - clock.get()).isEqualTo(SCAN_NANOS * 100);
        another.close();
    }

    @Test
    void theAlarmIsRaisedOnceThereIsConfidenceAndClearedWhenTheRecallIsBack() throws InterruptedException {
        for (int i = 0; i < RecallWindow.LEAST; i++) {
            assertThat(table.recall() != null && recall().alarm()).isFalse();
            measure(REQUEST, found(5, K));
        }
        assertThat(recall().alarm()).isTrue();
        int good = 0;
        while (recall().alarm()) {
            measure(REQUEST, nearest(K));
            good++;
        }
        // Only when the mean of the window is at the level, not when the alarm is no longer certain.
        assertThat(good).isEqualTo(RecallWindow.LEAST * 3 / 2);
        assertThat(recall().recall()).isCloseTo(.8, within(1e-9));
    }

    @Test
    void aFilterIsNeverCalledOutsideItsSearchAndShortResultsAreNoSamples() throws InterruptedException {
        Until repeatedOne = afterPause();
        IdFilter filter = IdFilter.of(id -> {
            throw new IllegalStateException("called by the meter");
        });
        SearchResult cut = nearest(K).with(SearchCost.NONE, true);
        SearchResult partial = nearest(K).with(new SearchCost(1, 1, 1, 0, 3, 1), false);
        for (int i = 0; i < 200; i++) {
            var _ = meter.watch(REQUEST.filter(filter), CompletableFuture.completedFuture(nearest(K)));
            var _ = meter.watch(
                    REQUEST.filter(IdFilter.of(new BitSet())), CompletableFuture.completedFuture(nearest(K)));
            var _ = meter.watch(REQUEST, CompletableFuture.completedFuture(cut));
            var _ = meter.watch(REQUEST, CompletableFuture.completedFuture(partial));
            var _ = meter.watch(REQUEST, CompletableFuture.failedFuture(new IllegalStateException("failed")));
        }
        rows.set(RecallMeter.LEAST_ROWS - 1);
        for (int i = 0; i < 200; i++) {
            var _ = meter.watch(REQUEST, CompletableFuture.completedFuture(nearest(K)));
        }
        rows.set(RecallMeter.LEAST_ROWS);
        search(REQUEST, nearest(K), repeatedOne);
        assertThat(repeated).hasValue(1);
        assertThat(recall().samples()).isEqualTo(1);
    }

    @Test
    void aSampleOfATableThatHasChangedByMoreThanAThousandthIsDropped() throws InterruptedException {
        exact = (request, context) -> {
            changes.addAndGet(11);
            return nearest(K);
        };
        measure(REQUEST, nearest(K));
        assertThat(table.recall()).isNull();
        exact = (request, context) -> {
            rows.addAndGet(-11);
            return nearest(K);
        };
        measure(REQUEST, nearest(K));
        assertThat(table.recall()).isNull();
        exact = (request, context) -> {
            changes.addAndGet(9);
            return nearest(K);
        };
        measure(REQUEST, nearest(K));
        assertThat(recall().recall()).isEqualTo(1);
        meter.clear();
        assertThat(table.recall()).isNull();
    }

    @Test
    void aRepetitionThatFailsIsDroppedAndTheNextIsMade() throws InterruptedException {
        exact = (request, context) -> {
            throw new IllegalStateException("a damaged list");
        };
        measure(REQUEST, nearest(K));
        assertThat(table.recall()).isNull();
        exact = (request, context) -> nearest(K);
        measure(REQUEST, nearest(K));
        assertThat(recall().samples()).isEqualTo(1);
    }

    @Test
    void theCallerMayChangeTheResultAndCancelAWatchedSearch() throws InterruptedException {
        Until repeatedOne = afterPause();
        CompletableFuture<SearchResult> search = new CompletableFuture<>();
        CompletableFuture<SearchResult> answer = search;
        while (answer == search) {
            answer = meter.watch(REQUEST, search);
        }
        var _ = answer.thenAccept(result -> Arrays.fill(result.ids(), -1));
        var _ = answer.thenAccept(result -> Arrays.fill(result.distances(), 1_000));
        search.complete(nearest(K));
        await(repeatedOne);
        assertThat(recall().recall()).isEqualTo(1);
        var _ = afterPause();
        CompletableFuture<SearchResult> cancelled = new CompletableFuture<>();
        answer = cancelled;
        while (answer == cancelled) {
            answer = meter.watch(REQUEST, cancelled);
        }
        answer.cancel(false);
        assertThat(cancelled).isCancelled();
        assertThat(meter.watchAll(List.of(REQUEST), List.of(cancelled))).hasSize(1);
    }

    @Test
    void nothingIsRepeatedWhileTheWorkersAreBusyAndWhatHasWaitedLongIsSkipped() throws InterruptedException {
        CountDownLatch busy = new CountDownLatch(2);
        CountDownLatch release = new CountDownLatch(1);
        for (int worker = 0; worker < 2; worker++) {
            var _ = orchestrator.submit(
                    (query, context) -> {
                        busy.countDown();
                        release.await();
                        return query;
                    },
                    0,
                    table.id());
        }
        busy.await();
        Until skipped = afterPause();
        for (int i = 0; i < 200; i++) {
            var _ = meter.watch(REQUEST, CompletableFuture.completedFuture(nearest(K)));
        }
        clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
        assertThat(repeated).hasValue(0);
        release.countDown();
        await(skipped);
        assertThat(repeated).hasValue(0);
        measure(REQUEST, nearest(K));
        assertThat(repeated).hasValue(1);
    }

    @Test
    void aTableIsClosedDuringARepetitionWhichThenEnds() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        exact = (request, context) -> {
            begun.countDown();
            while (!context.expired()) {
                Thread.onSpinWait();
            }
            throw new IllegalStateException("expired");
        };
        Until ended = afterPause();
        search(REQUEST, nearest(K), () -> begun.getCount() == 0);
        assertThat(orchestrator.indexing().closeTable(table, () -> {})).isTrue();
        assertThat(table.use().unused()).isDone();
        await(ended);
        var _ = afterPause();
        for (int i = 0; i < 100; i++) {
            var _ = meter.watch(REQUEST, CompletableFuture.completedFuture(nearest(K)))
                    .join();
        }
        assertThat(table.recall()).isNull();
    }

    @Test
    void theEffortOfATargetFollowsTheMeasuredRecall() throws InterruptedException {
        SearchRequest target = REQUEST.targetRecall(.9);
        assertThat(effort(target)).isEqualTo(100);
        for (int i = 0; i < EffortCorrection.SEARCHES; i++) {
            measure(target, found(5, K));
        }
        assertThat(effort(target)).isEqualTo(200);
        assertThat(effort(REQUEST.targetRecall(.8))).isEqualTo(100);
        efforts.clear();
        assertThat(effort(target)).isEqualTo(100);
    }

    private int effort(SearchRequest request) {
        return efforts.search(
                        request,
                        measured -> CompletableFuture.completedFuture(
                                SearchResult.EMPTY.with(new SearchCost(measured.effortOr(-1), 0), false)))
                .thenApply(result -> (int) result.cost().visited())
                .join();
    }

    @Test
    void aShareOfZeroSwitchesItOff() {
        try (Orchestrator off = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .recallShare(0)
                .build()) {
            RecallMeter none =
                    new RecallMeter(off, off.register("table"), rows::get, changes::get, exact, efforts, clock::get);
            clock.set(none.pausedUntil());
            for (int i = 0; i < 100; i++) {
                CompletableFuture<SearchResult> search = CompletableFuture.completedFuture(nearest(K));
                assertThat(none.watch(REQUEST, search)).isSameAs(search);
            }
        }
    }
}
