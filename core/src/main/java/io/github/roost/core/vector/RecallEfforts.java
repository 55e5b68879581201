package io.github.roost.core.vector;

import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.SubmitOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * The efforts by which searches of a table reach the recall that their requests ask for, for authors of indexes: measured at
 * the first request with a recall and a k, then known until the table has twice as many rows, or half as many. Thread-safe.
 */
public final class RecallEfforts {
    private record Target(double recall, int k) {}

    /** How an effort is measured. */
    @FunctionalInterface
    public interface Measure {
        /**
         * Measures; called in a thread that may block, once per recall and k at a time.
         *
         * @param recall over 0, at most 1
         * @param k from 1 to 10,000
         * @return the effort
         */
        int effort(double recall, int k);
    }

    /**
     * What is measured, or being measured.
     *
     * @param rows that the table had when that began
     */
    private record Known(int rows, CompletableFuture<Integer> effort) {
        boolean isOf(int rowsNow) {
            return rowsNow <= 2L * rows && rows <= 2L * rowsNow;
        }
    }

    private final Measure measure;
    private final IntSupplier rows;
    private final ConcurrentHashMap<Target, Known> efforts = new ConcurrentHashMap<>();

    /**
     * Knows nothing yet.
     *
     * @param measure of the table
     * @param rows how many the table has now
     */
    public RecallEfforts(Measure measure, IntSupplier rows) {
        this.measure = measure;
        this.rows = rows;
    }

    /** Forgets what was measured: the rows are others now. */
    public void clear() {
        efforts.clear();
    }

    /**
     * Submits a request with an effort in the place of a recall; one that has none goes on as it is. Where the effort is not
     * known yet, the request is submitted once it has been measured, with what is left of its timeout.
     *
     * @param request may ask for a recall
     * @param submit submits a request that asks for none
     * @return completes as what was submitted does; cancelling it cancels that. With a {@link DeadlineExceededException} where the
     *     deadline passes before the effort has been measured
     */
    public CompletableFuture<SearchResult> search(
            SearchRequest request, Function<SearchRequest, CompletableFuture<SearchResult>> submit) {
        if (Double.isNaN(request.targetRecall())) {
            return submit.apply(request);
        }
        CompletableFuture<Integer> effort = effort(new Target(request.targetRecall(), request.k()));
        if (effort.isDone() && !effort.isCompletedExceptionally()) {
            return submit.apply(request.effort(effort.join()));
        }
        CompletableFuture<SearchResult> answer = new CompletableFuture<>();
        SubmitOptions options = request.options();
        boolean hasDeadline = !options.timeout().isZero();
        long deadline = System.nanoTime() + options.timeout().toNanos();
        if (hasDeadline) {
            CompletableFuture.delayedExecutor(options.timeout().toNanos(), TimeUnit.NANOSECONDS)
                    .execute(() -> expire(answer, effort, deadline));
        }
        var _ = effort.whenComplete((measured, failure) -> {
            long left = deadline - System.nanoTime();
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else if (hasDeadline && left <= 0) {
                answer.completeExceptionally(new DeadlineExceededException(-left));
            } else if (!answer.isDone()) {
                SearchRequest measuredRequest = request.effort(measured);
                goOn(
                        answer,
                        () -> submit.apply(
                                hasDeadline ? measuredRequest.timeout(Duration.ofNanos(left)) : measuredRequest));
            }
        });
        return answer;
    }

    /** From the time when the search has been submitted, its deadline is the orchestrator's. */
    private static void expire(
            CompletableFuture<SearchResult> answer, CompletableFuture<Integer> effort, long deadline) {
        if (!effort.isDone()) {
            answer.completeExceptionally(new DeadlineExceededException(System.nanoTime() - deadline));
        }
    }

    private static void goOn(CompletableFuture<SearchResult> answer, Supplier<CompletableFuture<SearchResult>> submit) {
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
                // The next request tries again.
                efforts.remove(target, begun);
                begun.effort().completeExceptionally(failure);
            }
        });
        return begun.effort();
    }
}
