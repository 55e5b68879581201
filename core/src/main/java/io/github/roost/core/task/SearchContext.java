package io.github.roost.core.task;

import io.github.roost.core.stall.StallPolicy;

/** What a running search may ask its worker, and must report to it. Valid only during that call. */
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

    /** {@return for how many nanoseconds a step of maintenance may run; a search may have to wait for a longer step} */
    default long stepNanos() {
        return StallPolicy.STEP_NANOS;
    }

    /** {@return whether its worker has done maintenance since the slice of a search that it ran last: caches may hold something else} */
    default boolean afterMaintenance() {
        return false;
    }

    /** Receives what a search outside an orchestrator touches. */
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
     * @param touched receives what the search touches
     * @return a context, valid as long as the caller likes, as thread-safe as {@code touched}
     */
    static SearchContext outside(Touched touched) {
        return new OutsideContext(touched);
    }
}
