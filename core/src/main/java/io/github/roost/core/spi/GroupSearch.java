package io.github.roost.core.spi;

import io.github.roost.core.SearchContext;

/**
 * Serves the queries of a {@link BatchQueue} in groups. It may run in several slices and park until the bytes that the group
 * needs have arrived; it must not fork. Must be thread-safe: several workers may call it at once, each for its own group.
 *
 * @param <Q> the query
 * @param <R> the result of a query
 */
@FunctionalInterface
public interface GroupSearch<Q, R> {
    /**
     * Runs one slice for a group.
     *
     * @param group the queries, and the place for their answers; a query without an answer at the end completes with null
     * @param context the context of this slice; traffic is counted once for the group
     * @return {@link Step.Done}, {@link Step.Yield} or {@link Step.Park}
     * @throws Exception any failure; it fails the queries of the group that have no answer yet
     */
    Step<Group<Q, R>, Boolean> step(Group<Q, R> group, SearchContext context) throws Exception;

    /**
     * Queries that are served together. Used only by the running slice. Answers are delivered after the group's last slice, so
     * the continuation of one answer never delays another answer of the group.
     *
     * @param <Q> the query
     * @param <R> the result of a query
     */
    interface Group<Q, R> {
        /** {@return the number of queries, at least 1} */
        int size();

        /**
         * One of the queries.
         *
         * @param index from 0 to {@link #size()} exclusive
         * @return the query
         */
        Q query(int index);

        /**
         * Whether a query has been cancelled or is complete, or its deadline has passed.
         *
         * @param index from 0 to {@link #size()} exclusive
         * @return whether to skip the query
         */
        boolean expired(int index);

        /**
         * Answers a query. The first answer or failure of a query counts.
         *
         * @param index from 0 to {@link #size()} exclusive
         * @param result the result of the query
         */
        void answer(int index, R result);

        /**
         * Fails one query; the rest of the group is unaffected.
         *
         * @param index from 0 to {@link #size()} exclusive
         * @param failure the cause, not null
         */
        void fail(int index, Throwable failure);
    }
}
