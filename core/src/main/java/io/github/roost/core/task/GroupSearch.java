package io.github.roost.core.task;

/**
 * Serves the queries of a {@link BatchQueue} together. It may run in several slices, and park until the bytes are there that
 * the whole group needs; it must not fork. Must be thread-safe: several workers may call it at once, each for its own group.
 *
 * @param <Q> the query
 * @param <R> what is found for it
 */
@FunctionalInterface
public interface GroupSearch<Q, R> {
    /**
     * Runs one slice for a group.
     *
     * @param group the queries, and where their answers go; a query without an answer at the end completes with null
     * @param context of this slice; its traffic is the group's, counted once
     * @return {@link Step.Done}, {@link Step.Yield} or {@link Step.Park}
     * @throws Exception any failure; it fails the queries of the group that have no answer yet
     */
    Step<Group<Q, R>, Boolean> step(Group<Q, R> group, SearchContext context) throws Exception;

    /**
     * Queries that are served together. Used by the running slice alone. No answer is delivered before the group's last slice
     * has ended, so what follows an answer never holds up another of the group.
     *
     * @param <Q> the query
     * @param <R> what is found for it
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
         * Whether nobody waits for a query any more, or its deadline has passed.
         *
         * @param index from 0 to {@link #size()} exclusive
         * @return whether to leave it out
         */
        boolean expired(int index);

        /**
         * Answers a query.
         *
         * @param index from 0 to {@link #size()} exclusive
         * @param result what was found for it
         */
        void answer(int index, R result);

        /**
         * Fails a query, and no other.
         *
         * @param index from 0 to {@link #size()} exclusive
         * @param failure why
         */
        void fail(int index, Throwable failure);
    }
}
