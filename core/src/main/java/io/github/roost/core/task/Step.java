package io.github.roost.core.task;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a slice of a search ends.
 *
 * @param <Q> the query
 * @param <R> the result
 */
public sealed interface Step<Q, R> {
    /**
     * The search is over.
     *
     * @param result what its future completes with
     * @param <Q> the query
     * @param <R> the result
     */
    record Done<Q, R>(R result) implements Step<Q, R> {}

    /**
     * The search goes on after the tasks that wait at the worker: for a search that would hold up others for long.
     *
     * @param next the next slice
     * @param <Q> the query
     * @param <R> the result
     */
    record Yield<Q, R>(Search<Q, R> next) implements Step<Q, R> {}

    /**
     * The search goes on when bytes have arrived: on the same worker, before the tasks that wait there, or on another of its
     * domain. Until then it holds its memory and no thread. It ends without them when its deadline passes or it is cancelled. A
     * failure that {@code pending} is completed with fails the search.
     *
     * @param pending completed when the search can go on; of this step alone
     * @param next the next slice
     * @param <Q> the query
     * @param <R> the result
     */
    record Park<Q, R>(Pending pending, Search<Q, R> next) implements Step<Q, R> {}

    /**
     * The search goes on when parts of it are done, each at its own home, in the thread that ends the last of them. Parts are
     * of the same request: they have its deadline and priority, and none begins once it is over. The first part that fails
     * fails the search.
     *
     * @param parts run each as a task of its own
     * @param shared batch queues that the query {@code asked} joins, one part each; see {@link BatchQueue}
     * @param asked the query for these; may be null only where there are none
     * @param next makes the next step of the results of {@code parts} and then of {@code shared}, in their order
     * @param <Q> the query
     * @param <G> the query of the batch queues
     * @param <P> what a part finds
     * @param <R> the result
     */
    record Fork<Q, G, P, R>(
            List<? extends Part<?, ? extends P>> parts,
            List<? extends BatchQueue<G, ? extends P>> shared,
            @Nullable G asked,
            Joined<Q, P, R> next)
            implements Step<Q, R> {}

    /**
     * What follows the parts of a search.
     *
     * @param <Q> the query
     * @param <P> what a part finds
     * @param <R> the result
     */
    @FunctionalInterface
    interface Joined<Q, P, R> {
        /**
         * Makes the next step of the parts' results.
         *
         * @param query what was submitted
         * @param results one per part, in their order; unmodifiable
         * @param context of the slice in which this runs
         * @return what comes next
         * @throws Exception any failure; it fails this search's future only
         */
        Step<Q, R> joined(Q query, List<P> results, SearchContext context) throws Exception;
    }

    /**
     * A search that is over.
     *
     * @param result what its future completes with
     * @param <Q> the query
     * @param <R> the result
     * @return the step
     */
    static <Q, R> Step<Q, R> done(R result) {
        return new Done<>(result);
    }

    /**
     * A search in parts whose results are merged.
     *
     * @param parts run each as a task of its own
     * @param merger makes the result of theirs
     * @param <Q> the query
     * @param <P> what a part finds
     * @param <R> the result
     * @return the step
     */
    static <Q, P, R> Step<Q, R> fork(List<? extends Part<?, ? extends P>> parts, Merger<P, R> merger) {
        return new Fork<Q, Object, P, R>(
                parts, List.of(), null, (query, results, context) -> new Done<>(merger.merge(results)));
    }
}
