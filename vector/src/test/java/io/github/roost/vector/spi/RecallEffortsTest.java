package io.github.roost.vector.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Priority;
import io.github.roost.core.Registration;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RecallEffortsTest {
    private static final SearchRequest REQUEST =
            SearchRequest.of(new float[1], 10).targetRecall(.9);

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
            .build();
    private final AtomicInteger rows = new AtomicInteger(1_000);
    private final AtomicInteger measured = new AtomicInteger();
    private final RecallEfforts efforts = new RecallEfforts(
            orchestrator, (recall, k) -> 100 * measured.incrementAndGet(), rows::get, (effort, k) -> effort);

    @AfterEach
    void close() {
        orchestrator.close();
    }

    /** The effort that a request comes with. */
    private int effort(SearchRequest request) {
        return (int) efforts.search(
                        request,
                        requested -> CompletableFuture.completedFuture(
                                SearchResult.EMPTY.with(new SearchCost(requested.effortOr(-1), 0), false)))
                .join()
                .cost()
                .visited();
    }

    @Test
    void aRecallIsMeasuredOncePerKAndRequestsWithoutOneGoOnAsTheyAre() {
        assertThat(effort(REQUEST)).isEqualTo(100);
        assertThat(effort(REQUEST)).isEqualTo(100);
        assertThat(effort(SearchRequest.of(new float[1], 11).targetRecall(.9))).isEqualTo(200);
        assertThat(effort(REQUEST.targetRecall(.8))).isEqualTo(300);
        assertThat(effort(REQUEST.effort(7))).isEqualTo(7);
        assertThat(effort(SearchRequest.of(new float[1], 10))).isEqualTo(-1);
        assertThat(measured).hasValue(3);
    }

    @Test
    void onlySomeHundredsAreKeptHoweverManyAreAskedFor() {
        for (int i = 1; i <= 2_000; i++) {
            SearchRequest other = REQUEST.targetRecall(i / 2_000.0);
            effort(other);
            efforts.measured(other, 1, .5);
        }
        assertThat(efforts.known()).isBetween(300, 600);
        assertThat(effort(REQUEST)).isEqualTo(effort(REQUEST));
    }

    @Test
    void itIsMeasuredAgainWhenTheTableHasGrownOrShrunkByMoreThanHalf() {
        assertThat(effort(REQUEST)).isEqualTo(100);
        rows.set(2_000);
        assertThat(effort(REQUEST)).isEqualTo(100);
        rows.set(2_001);
        assertThat(effort(REQUEST)).isEqualTo(200);
        rows.set(1_000);
        assertThat(effort(REQUEST)).isEqualTo(300);
        efforts.clear();
        assertThat(effort(REQUEST)).isEqualTo(400);
    }

    @Test
    void aMeasurementThatFailsFailsItsRequestsAndTheNextTriesAgain() {
        AtomicInteger tries = new AtomicInteger();
        RecallEfforts failing = new RecallEfforts(
                orchestrator,
                (recall, k) -> {
                    tries.incrementAndGet();
                    throw new IllegalStateException("no sample");
                },
                rows::get,
                (effort, k) -> effort);
        for (int i = 1; i <= 2; i++) {
            assertThatThrownBy(() -> failing.search(REQUEST, requested -> new CompletableFuture<>())
                            .join())
                    .isInstanceOf(CompletionException.class)
                    .hasRootCauseMessage("no sample");
            assertThat(tries).hasValue(i);
        }
    }

    @Test
    void aRefusalIsInTheFutureOfASearchThatWaitedForItsEffortAndThrownAtALaterOne() {
        Function<SearchRequest, CompletableFuture<SearchResult>> full = requested -> {
            throw new RejectedSearchException("table", 0, 1);
        };
        CountDownLatch release = new CountDownLatch(1);
        RecallEfforts slow = measuredAfter(release);
        CompletableFuture<SearchResult> first = slow.search(REQUEST, full);
        release.countDown();
        assertThatThrownBy(first::join).hasCauseInstanceOf(RejectedSearchException.class);
        assertThatThrownBy(() -> slow.search(REQUEST, full)).isInstanceOf(RejectedSearchException.class);
    }

    @Test
    void aDeadlineCountsFromSubmissionWhileTheEffortIsMeasuredAndAfterwards() {
        CountDownLatch release = new CountDownLatch(1);
        RecallEfforts slow = measuredAfter(release);
        AtomicReference<SearchRequest> submitted = new AtomicReference<>();
        CompletableFuture<SearchResult> patient = slow.search(REQUEST.timeout(Duration.ofHours(1)), requested -> {
            submitted.set(requested);
            return CompletableFuture.completedFuture(SearchResult.EMPTY);
        });
        CompletableFuture<SearchResult> late =
                slow.search(REQUEST.timeout(Duration.ofMillis(2)), requested -> new CompletableFuture<>());
        assertThatThrownBy(late::join).hasCauseInstanceOf(DeadlineExceededException.class);
        assertThat(patient).isNotDone();
        release.countDown();
        patient.join();
        assertThat(Objects.requireNonNull(submitted.get()).options().timeout())
                .isPositive()
                .isLessThan(Duration.ofHours(1));
    }

    @Test
    void cancellingASearchThatWaitsForItsEffortKeepsItFromBeingSubmittedAndCancelsOneThatWas() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        RecallEfforts slow = measuredAfter(release);
        CompletableFuture<SearchResult> submitted = new CompletableFuture<>();
        AtomicInteger submissions = new AtomicInteger();
        CompletableFuture<SearchResult> kept = slow.search(REQUEST, requested -> submitted);
        CompletableFuture<SearchResult> cancelled = slow.search(REQUEST, requested -> {
            submissions.incrementAndGet();
            return submitted;
        });
        cancelled.cancel(false);
        release.countDown();
        // A future runs its newest dependent first, so `cancelled` has been looked at once `kept` passes a cancel on.
        while (kept.getNumberOfDependents() == 0) {
            Thread.onSpinWait();
        }
        assertThat(submissions).hasValue(0);
        kept.cancel(false);
        assertThat(submitted).isCancelled();
    }

    @ParameterizedTest
    @EnumSource(Priority.class)
    void aSearchThatWaitsForItOnTheOnlyWorkerGivesWayToQueuedSearches(Priority priority) {
        Registration table = orchestrator.register("table");
        Set<Thread> measuring = ConcurrentHashMap.newKeySet();
        Thread waiting = threadThatWaits(table, new SubmitOptions(priority, Duration.ZERO), measuring);
        assertThat(measuring).isNotEmpty().doesNotContain(waiting);
    }

    /** The thread of a search that waits for an effort; adds the threads of the searches of the measurement to {@code measuring}. */
    private Thread threadThatWaits(Registration table, SubmitOptions options, Set<Thread> measuring) {
        SearchFunction<Integer, Thread> current = (query, context) -> Thread.currentThread();
        RecallEfforts onWorker = new RecallEfforts(
                orchestrator,
                (recall, k) -> {
                    for (int search = 0; search < 10; search++) {
                        measuring.add(orchestrator
                                .submit(current, search, table.id(), options)
                                .join());
                    }
                    return 5;
                },
                rows::get,
                (effort, k) -> effort);
        SearchFunction<Integer, Thread> outer = (query, context) -> {
            var _ = onWorker.search(REQUEST, requested -> CompletableFuture.completedFuture(SearchResult.EMPTY))
                    .join();
            return Thread.currentThread();
        };
        return orchestrator.submit(outer, 0, table.id(), options).join();
    }

    /** Efforts whose measurement ends after the latch has been released. */
    private RecallEfforts measuredAfter(CountDownLatch release) {
        return new RecallEfforts(
                orchestrator,
                (recall, k) -> {
                    await(release);
                    return 5;
                },
                rows::get,
                (effort, k) -> effort);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
