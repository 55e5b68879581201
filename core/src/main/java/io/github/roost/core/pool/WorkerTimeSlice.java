package io.github.roost.core.pool;

import io.github.roost.topology.TimeSlice;

/**
 * The time slice of a worker's thread. A short one for searches: a worker that is woken on its caller's core runs the search
 * at once, and not when the caller waits for it. A long one while batch work runs, so that a caller that wakes up on the
 * worker's core submits at once, and not after the next tick of the operating system's clock, all that it missed in one
 * burst. The worker's thread only.
 */
final class WorkerTimeSlice {
    /**
     * Longer than any slice that threads have by default. Not much longer: beside threads that compute on the same core
     * a thread waits the longer for its turn the longer its slice is.
     */
    static final long BATCH_NANOS = 10_000_000;
    /** Of the slice that threads have by default: short enough to take a core, long enough for some hundred searches. */
    private static final int PART = 2;

    /** The slice for searches, 0 where threads have none. */
    private long ofSearches;

    private boolean isLong;

    /** Of a thread whose slice is {@code usual}. */
    static long ofSearches(long usual) {
        return Math.max(TimeSlice.SHORTEST_NANOS, usual / PART);
    }

    /** The thread begins. */
    void begin() {
        long usual = TimeSlice.nanos();
        if (usual > TimeSlice.SHORTEST_NANOS && usual < BATCH_NANOS && TimeSlice.set(ofSearches(usual))) {
            ofSearches = ofSearches(usual);
        }
    }

    void batchBegins() {
        if (ofSearches > 0 && !isLong) {
            isLong = true;
            TimeSlice.set(BATCH_NANOS);
        }
    }

    void batchEnds() {
        if (isLong) {
            isLong = false;
            TimeSlice.set(ofSearches);
        }
    }
}
