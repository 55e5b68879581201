package io.github.roost.core.spi;

import io.github.roost.core.Merger;
import io.github.roost.core.Part;
import io.github.roost.core.SearchContext;
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
     * The search is done.
     *
     * @param result the result of its future
     * @param <Q> the query
     * @param <R> the result
     */
    record Done<Q, R>(R result) implements Step<Q, R> {}

    /**
     * The search yields: tasks that wait at the worker run first. For long searches that would delay others.
     *
     * @param next the next slice
     * @param <Q> the query
     * @param <R> the result
     */
    record Yield<Q, R>(Search<Q, R> next) implements Step<Q, R> {}

    /**
     * The search parks until bytes have arrived; then it resumes on the same worker, ahead of the tasks that wait there, or on a
     * worker that steals it. While parked it holds its memory but no thread. If its deadline passes or it is cancelled, it ends
     * without waiting further. If {@code pending} completes with a failure, the search fails with it.
     *
     * @param pending completed when the search can resume; must not be shared with another step
     * @param next the next slice
     * @param <Q> the query
     * @param <R> the result
     */
    record Park<Q, R>(Pending pending, Search<Q, R> next) implements Step<Q, R> {}

    /**
     * The search forks into parts, each at its own home. The thread that ends the last part continues the search. Parts belong to
     * the same request: they have its deadline and priority, and none starts after the request has ended. The first part that
     * fails fails the search.
     *
     * @param parts the parts that run as tasks of their own
     * @param shared batch queues that {@code sharedQuery} joins, one part each; see {@link Indexing.BatchQueue}
     * @param sharedQuery the query for {@code shared}; may be null only if {@code shared} is empty
     * @param next computes the next step from the results of {@code parts}, then of {@code shared}, in their order
     * @param <Q> the query
     * @param <G> the query of the batch queues
     * @param <P> the result of a part
     * @param <R> the result
     */
    record Fork<Q, G, P, R>(
            List<? extends Part<?, ? extends P>> parts,
            List<? extends Indexing.BatchQueue<G, ? extends P>> shared,
            @Nullable G sharedQuery,
            Joined<Q, P, R> next)
            implements Step<Q, R> {
        /** Copies the lists. */
        public Fork {
            parts = List.copyOf(parts);
            shared = List.copyOf(shared);
        }
    }

    /**
     * The continuation of a forked search.
     *
     * @param <Q> the query
     * @param <P> the result of a part
     * @param <R> the result
     */
    @FunctionalInterface
    interface Joined<Q, P, R> {
        /**
         * Computes the next step from the parts' results.
         *
         * @param query the submitted query
         * @param results one per part, in their order; unmodifiable
         * @param context the context of the slice in which this runs
         * @return the next step, not null
         * @throws Exception any failure; it fails this search's future only
         */
        Step<Q, R> joined(Q query, List<P> results, SearchContext context) throws Exception;
    }

    /**
     * The step of a search that is done.
     *
     * @param result the result of its future
     * @param <Q> the query
     * @param <R> the result
     * @return the step
     */
    static <Q, R> Step<Q, R> done(R result) {
        return new Done<>(result);
    }

    /**
     * The step of a search that forks into parts and is done when their results are merged.
     *
     * @param parts the parts that run as tasks of their own
     * @param merger merges their results
     * @param <Q> the query
     * @param <P> the result of a part
     * @param <R> the result
     * @return the step
     */
    static <Q, P, R> Step<Q, R> fork(List<? extends Part<?, ? extends P>> parts, Merger<P, R> merger) {
        return new Fork<Q, Object, P, R>(
                parts, List.of(), null, (query, results, context) -> new Done<>(merger.merge(results)));
    }
}
