package io.github.roost.core.vector;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The efforts by which searches of a table reach the recall that their requests ask for, for authors of indexes: measured at
 * the first request with a recall and a k, then known. Thread-safe.
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

    private final Measure measure;
    private final ConcurrentHashMap<Target, CompletableFuture<Integer>> efforts = new ConcurrentHashMap<>();

    /**
     * Knows nothing yet.
     *
     * @param measure of the table
     */
    public RecallEfforts(Measure measure) {
        this.measure = measure;
    }

    /** Forgets what was measured: the rows are others now. */
    public void clear() {
        efforts.clear();
    }

    /**
     * Submits a request with an effort in the place of a recall; one that has none goes on as it is. Where the effort is not
     * known yet, the request is submitted once it has been measured, and its deadline counts from then.
     *
     * @param request may ask for a recall
     * @param submit submits a request that asks for none
     * @return completes as what was submitted does; cancelling it cancels that
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
        var _ = effort.whenComplete((measured, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else if (!answer.isDone()) {
                goOn(answer, () -> submit.apply(request.effort(measured)));
            }
        });
        return answer;
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
        CompletableFuture<Integer> known = efforts.get(target);
        if (known != null) {
            return known;
        }
        CompletableFuture<Integer> begun = new CompletableFuture<>();
        CompletableFuture<Integer> first = efforts.putIfAbsent(target, begun);
        if (first != null) {
            return first;
        }
        Thread.ofVirtual().name("roost-recall").start(() -> {
            try {
                begun.complete(measure.effort(target.recall(), target.k()));
            } catch (Throwable failure) {
                // The next request tries again.
                efforts.remove(target, begun);
                begun.completeExceptionally(failure);
            }
        });
        return begun;
    }
}
