package io.github.roost.core.pool;

import io.github.roost.topology.TimeSlice;

/**
 * The time slice of a worker's thread: a long one while batch work runs, so that a caller that wakes up on the worker's
 * core submits at once, and not after the next tick of the operating system's clock, all that it missed in one burst.
 * The worker's thread only.
 */
final class BatchSlice {
    /**
     * Longer than any slice that threads have by default. Not much longer: beside threads that compute on the same core
     * a thread waits the longer for its turn the longer its slice is.
     */
    static final long NANOS = 10_000_000;

    /** The thread's slice before, 0 where it was not changed. */
    private long usual;

    /** Whether it was changed, or tried to, since the last end. */
    private boolean begun;

    void begin() {
        if (begun) {
            return;
        }
        begun = true;
        long before = TimeSlice.nanos();
        if (before > 0 && before < NANOS && TimeSlice.set(NANOS)) {
            usual = before;
        }
    }

    void end() {
        if (usual > 0) {
            TimeSlice.set(usual);
            usual = 0;
        }
        begun = false;
    }
}
