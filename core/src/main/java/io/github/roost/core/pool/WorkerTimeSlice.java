package io.github.roost.core.pool;

import io.github.roost.topology.system.TimeSlice;

/**
 * The scheduler time slice of a worker's thread. It is short for searches, so that a worker woken on its caller's core preempts
 * the caller and runs the search at once. It is long during batch work, so that a caller that wakes up on the worker's core
 * preempts the worker and submits at once, instead of submitting a burst after the next tick of the operating system's clock.
 * Only for use in the worker's thread.
 */
final class WorkerTimeSlice {
    /**
     * Longer than any default time slice, but not much longer: next to CPU-bound threads on the same core, a thread with a longer
     * slice waits longer for its turn.
     */
    static final long BATCH_NANOS = 10_000_000;
    /** Divisor of the default slice: the result is short enough to preempt, and long enough for some hundred searches. */
    private static final int PART = 2;

    /** The slice for searches in nanoseconds, 0 if the slice cannot be set. */
    private long ofSearches;

    private boolean isLong;

    /** The slice for searches of a thread whose default slice is {@code usual}. */
    static long ofSearches(long usual) {
        return Math.max(TimeSlice.SHORTEST_NANOS, usual / PART);
    }

    /**
     * Sets the slice for searches; called when the thread begins to run a worker.
     *
     * @param usual of a thread that is no worker: this thread may have a worker's already
     */
    void begin(long usual) {
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
