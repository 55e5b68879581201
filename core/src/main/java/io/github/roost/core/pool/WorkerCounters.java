package io.github.roost.core.pool;

import java.util.concurrent.atomic.AtomicLongArray;

/** The counters of one runner of a worker. Written only by its thread; any thread may read slightly stale values. */
final class WorkerCounters {
    /** The counters. */
    enum Counter {
        COMPLETED,
        FAILED,
        CANCELLED,
        EXPIRED,
        INTRA_STEALS,
        CROSS_STEALS,
        WAITS_TIMED,
        WAIT_NANOS,
        RUNS_TIMED,
        RUN_NANOS,
        PARKS
    }

    /** Long enough that no two workers' counters share a cache line. */
    private final AtomicLongArray values = new AtomicLongArray(16 + Counter.values().length + 16);

    void add(Counter counter, long amount) {
        int index = 16 + counter.ordinal();
        values.setOpaque(index, values.getPlain(index) + amount);
    }

    long get(Counter counter) {
        return values.getOpaque(16 + counter.ordinal());
    }
}
