package io.github.roost.core;

import io.github.roost.core.spi.Indexing;
import java.util.function.BooleanSupplier;

/** The interface between a running slice and its worker. Valid only during the call that it is passed to, in the calling thread. */
public interface SearchContext {
    /**
     * Reports traffic of the search's mapping id. May be called several times per slice; the amounts add up.
     *
     * @param nodes graph nodes or list entries visited, at least 0
     * @param bytes bytes read for them, at least 0
     */
    void touched(long nodes, long bytes);

    /**
     * {@return the index of the worker that runs the search, from 0 to the number of workers exclusive, or -1 in a caller's
     * thread}
     */
    int worker();

    /** {@return the cache domain of {@link #worker()}, or -1 in a caller's thread} */
    int domain();

    /** {@return the epoch of the mapping that the search was dispatched under} */
    long epoch();

    /** {@return whether the result is no longer needed: the deadline has passed, or the future is complete or cancelled} */
    boolean expired();

    /** {@return the time budget of a step of maintenance, in nanoseconds; a step that exceeds it may delay searches} */
    default long stepNanos() {
        return Indexing.Maintenance.STEP_NANOS;
    }

    /** {@return whether the worker's previous slice was maintenance, which may have evicted the search's data from its caches} */
    default boolean afterMaintenance() {
        return false;
    }

    /** Receives the traffic of a search outside an orchestrator. */
    @FunctionalInterface
    interface Touched {
        /**
         * Called for each {@link SearchContext#touched}.
         *
         * @param nodes graph nodes or list entries visited
         * @param bytes bytes read for them
         */
        void touched(long nodes, long bytes);
    }

    /**
     * The context of a search that runs in its caller's thread, outside an orchestrator. It has no worker and never expires.
     *
     * @param touched receives the traffic of the search
     * @return a context that stays valid indefinitely and is as thread-safe as {@code touched}
     */
    static SearchContext outside(Touched touched) {
        return outside(touched, () -> false);
    }

    /**
     * The context of a search that runs in its caller's thread, outside an orchestrator. It has no worker.
     *
     * @param touched receives the traffic of the search
     * @param expired answers {@link #expired}
     * @return a context that stays valid indefinitely and is as thread-safe as its arguments
     */
    static SearchContext outside(Touched touched, BooleanSupplier expired) {
        return new OutsideContext(touched, expired);
    }
}
