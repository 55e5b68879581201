package io.github.roost.vector.spi;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SubmitOptions;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * The efforts with which searches of a table reach the target recall of their requests. An effort is measured at
 * the first request with a given recall and k, then kept, among a few hundred, until the number of rows has more than doubled or halved, and
 * corrected by the recall that searches are found to have. Thread-safe.
 */
final class RecallEfforts {
    /** Max number of efforts that are kept, and of corrections: requests may come from anyone. */
    private static final int MAX_TARGETS = 256;

    private record Target(double recall, int k) {}

    /**
     * An effort that is measured or being measured.
     *
     * @param rows the rows of the table when the measurement began
     */
    private record Known(int rows, CompletableFuture<Integer> effort) {
        boolean isOf(int rowsNow) {
            return rowsNow <= 2L * rows && rows <= 2L * rowsNow;
        }
    }

    private final Orchestrator orchestrator;
    private final RecallSample.Measure measure;
    private final IntSupplier rows;
    private final IntBinaryOperator valid;
    private final ConcurrentHashMap<Target, Known> efforts = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Target, EffortCorrection> corrections = new ConcurrentHashMap<>();

    /**
     * Creates an empty cache.
     *
     * @param orchestrator runs the table's searches
     * @param measure measures efforts of the table
     * @param rows returns the number of rows of the table
     * @param valid returns the valid effort nearest to an effort, for a k
     */
    RecallEfforts(Orchestrator orchestrator, RecallSample.Measure measure, IntSupplier rows, IntBinaryOperator valid) {
        this.orchestrator = orchestrator;
        this.measure = measure;
        this.rows = rows;
        this.valid = valid;
    }

    /** Discards all efforts, because the rows have been replaced. */
    void clear() {
        efforts.clear();
        corrections.clear();
    }

    /** Number of efforts and corrections that are kept. */
    int known() {
        return efforts.size() + corrections.size();
    }

    /** The factor by which the effort of a request with a target recall is corrected now; 1 for other requests. */
    double factor(SearchRequest request) {
        EffortCorrection correction = corrections.get(new Target(request.targetRecall(), request.k()));
        return correction == null ? 1 : correction.factor();
    }

    /**
     * Corrects the effort for the target recall of a request, if it has one, by the recall of a search.
     *
     * @param factor the factor of the search's effort
     * @param recall the recall of the search, from 0 to 1
     */
    void measured(SearchRequest request, double factor, double recall) {
        if (!Double.isNaN(request.targetRecall())) {
            Target target = new Target(request.targetRecall(), request.k());
            EffortCorrection correction = corrections.get(target);
            if (correction == null) {
                makeRoom(corrections);
                correction = corrections.computeIfAbsent(target, added -> new EffortCorrection(added.recall()));
            }
            correction.add(factor, recall);
        }
    }

    private SearchRequest withEffort(SearchRequest request, int measured) {
        double factor = factor(request);
        double corrected = factor > 1 ? Math.ceil(measured * factor) : measured * factor;
        return request.effort(factor == 1 ? measured : valid.applyAsInt((int) corrected, request.k()));
    }

    /**
     * Submits a request, with an effort in place of its target recall if it has one. If the effort is not known yet, the request is
     * submitted when it has been measured, with the rest of its timeout.
     *
     * @param request a request with or without a target recall
     * @param submit submits a request without a target recall
     * @return may be waited for inside a search; completes like the submitted search, and cancels it when cancelled; fails with {@link DeadlineExceededException} if the
     *     deadline passes before the effort has been measured
     */
    CompletableFuture<SearchResult> search(
            SearchRequest request, Function<SearchRequest, CompletableFuture<SearchResult>> submit) {
        if (Double.isNaN(request.targetRecall())) {
            return submit.apply(request);
        }
        CompletableFuture<Integer> effort = effort(new Target(request.targetRecall(), request.k()));
        if (effort.isDone() && !effort.isCompletedExceptionally()) {
            return submit.apply(withEffort(request, effort.join()));
        }
        // A search that waits for it gives its worker to others meanwhile.
        CompletableFuture<SearchResult> answer = orchestrator.indexing().newFuture();
        SubmitOptions options = request.options();
        boolean hasDeadline = !options.timeout().isZero();
        // Clamped, so that differences of times keep their sign.
        long timeout = Math.min(TimeUnit.NANOSECONDS.convert(options.timeout()), Long.MAX_VALUE / 2);
        long deadline = System.nanoTime() + timeout;
        if (hasDeadline) {
            CompletableFuture.delayedExecutor(timeout, TimeUnit.NANOSECONDS)
                    .execute(() -> expire(answer, effort, deadline));
        }
        var _ = effort.whenComplete((measured, failure) -> {
            long left = deadline - System.nanoTime();
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else if (hasDeadline && left <= 0) {
                answer.completeExceptionally(new DeadlineExceededException(-left));
            } else if (!answer.isDone()) {
                SearchRequest measuredRequest = withEffort(request, measured);
                submit(
                        answer,
                        () -> submit.apply(
                                hasDeadline ? measuredRequest.timeout(Duration.ofNanos(left)) : measuredRequest));
            }
        });
        return answer;
    }

    /** Fails a search whose effort is still being measured; once the search is submitted, the orchestrator enforces its deadline. */
    private static void expire(
            CompletableFuture<SearchResult> answer, CompletableFuture<Integer> effort, long deadline) {
        if (!effort.isDone()) {
            answer.completeExceptionally(new DeadlineExceededException(System.nanoTime() - deadline));
        }
    }

    private static void submit(
            CompletableFuture<SearchResult> answer, Supplier<CompletableFuture<SearchResult>> submit) {
        CompletableFuture<SearchResult> search;
        try {
            search = submit.get();
        } catch (RuntimeException | Error refused) {
            answer.completeExceptionally(refused);
            return;
        }
        var _ = search.whenComplete((found, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else {
                answer.complete(found);
            }
        });
        var _ = answer.whenComplete((found, failure) -> search.cancel(false));
    }

    private CompletableFuture<Integer> effort(Target target) {
        int rowsNow = rows.getAsInt();
        Known known = efforts.get(target);
        if (known != null && known.isOf(rowsNow)) {
            return known.effort();
        }
        if (known == null) {
            makeRoom(efforts);
        }
        Known begun = new Known(rowsNow, new CompletableFuture<>());
        boolean isFirst =
                known == null ? efforts.putIfAbsent(target, begun) == null : efforts.replace(target, known, begun);
        if (!isFirst) {
            return effort(target);
        }
        Thread.ofVirtual().name("roost-recall").start(() -> {
            try {
                begun.effort().complete(measure.effort(target.recall(), target.k()));
            } catch (Throwable failure) {
                // Not cached: the next request measures again.
                efforts.remove(target, begun);
                begun.effort().completeExceptionally(failure);
            }
        });
        return begun.effort();
    }

    /** Forgets targets of a full map: which ones does not matter, since they are measured again. */
    private static void makeRoom(ConcurrentHashMap<Target, ?> known) {
        var targets = known.keySet().iterator();
        while (known.size() >= MAX_TARGETS && targets.hasNext()) {
            targets.next();
            targets.remove();
        }
    }
}
