package io.github.roost.core.task;

/** What a running search may ask of, and must tell, the worker that runs it. Valid only during that call. */
public interface SearchContext {
    /**
     * Adds to the traffic of the search's mapping id.
     *
     * @param nodes graph nodes or list entries visited, at least 0
     * @param bytes bytes read for them, at least 0
     */
    void touched(long nodes, long bytes);

    /**
     * {@return the index of the worker that runs the search, from 0 to the number of workers, or -1 in a caller's
     * thread}
     */
    int worker();

    /** {@return the cache domain of {@link #worker()}, or -1 in a caller's thread} */
    int domain();

    /** {@return the epoch of the mapping that the search was dispatched under} */
    long epoch();

    /** {@return whether the result is no longer wanted: the deadline has passed or the future was cancelled} */
    boolean expired();

    /** What a search outside an orchestrator is told to tell. */
    @FunctionalInterface
    interface Touched {
        /**
         * As {@link SearchContext#touched}.
         *
         * @param nodes graph nodes or list entries visited
         * @param bytes bytes read for them
         */
        void touched(long nodes, long bytes);
    }

    /**
     * The context of a search that runs in its caller's thread, outside an orchestrator: on no worker, never expired.
     *
     * @param touched told what the search touches
     * @return a context, valid as long as the caller likes, as thread-safe as {@code touched}
     */
    static SearchContext outside(Touched touched) {
        return new OutsideContext(touched);
    }
}
