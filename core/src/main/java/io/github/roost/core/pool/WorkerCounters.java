package io.github.roost.core.pool;

import java.util.concurrent.atomic.AtomicLongArray;

/** The counters of one runner of a worker, or sums of them. Written by one thread; any thread may read slightly stale values. */
public final class WorkerCounters {
    /** The counters. */
    public enum Counter {
        /** Tasks that returned a result. */
        COMPLETED,
        /** Tasks that threw an exception. */
        FAILED,
        /** Tasks whose future was done before they were. */
        CANCELLED,
        /** Tasks whose deadline passed before they started or resumed. */
        EXPIRED,
        /** Tasks taken from other workers of the domain. */
        INTRA_STEALS,
        /** Tasks taken from other domains. */
        CROSS_STEALS,
        /** Tasks whose waits are in the next. */
        WAITS_TIMED,
        /** Nanoseconds from submission to the last slice of these tasks. */
        WAIT_NANOS,
        /** Ended tasks whose runs are in the next. */
        RUNS_TIMED,
        /** Nanoseconds of slices. */
        RUN_NANOS,
        /** Times that the worker went to sleep without a time limit. */
        PARKS
    }

    private static final Counter[] COUNTERS = Counter.values();

    /** Long enough that no two workers' counters share a cache line. */
    private final AtomicLongArray values = new AtomicLongArray(16 + COUNTERS.length + 16);

    void add(Counter counter, long amount) {
        int index = 16 + counter.ordinal();
        values.setOpaque(index, values.getPlain(index) + amount);
    }

    /** Adds all counters of another. */
    void add(WorkerCounters others) {
        for (Counter counter : COUNTERS) {
            add(counter, others.get(counter));
        }
    }

    public long get(Counter counter) {
        return values.getOpaque(16 + counter.ordinal());
    }
}
