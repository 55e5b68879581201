package io.github.roost.core.dispatch;

/**
 * The measured cost of running a domain's tasks in another domain: the time per byte there, relative to the time per byte at home.
 * A task should cross only if it has waited for longer than it loses. If tables are so large that searches miss the cache at home
 * too, crossing costs almost nothing. Immutable and pure: the pool and the simulator keep one per domain and replace it.
 *
 * @param homeNanos decayed sum of the times of tasks at home, in nanoseconds
 * @param homeBytes decayed sum of the bytes that those tasks read
 * @param homes decayed number of those tasks
 * @param crossedNanos decayed sum of the times of tasks that crossed, in nanoseconds
 * @param crossingBytes decayed sum of the bytes that those tasks read
 * @param crossings decayed number of tasks that crossed
 */
public record CrossingCost(
        double homeNanos, double homeBytes, double homes, double crossedNanos, double crossingBytes, double crossings) {
    /** The initial state, without measurements: crossing costs nothing. */
    public static final CrossingCost UNKNOWN = new CrossingCost(0, 0, 0, 0, 0, 0);

    /** A worker measures one task at home out of this many: otherwise all workers would write the same cache line per task. */
    public static final int TASKS_PER_MEASURE = 16;

    /** Decay of the sums per added task, so they cover about 64 tasks. */
    private static final double KEPT = 1 - 1 / 64.0;

    /**
     * The cost updated by a task that ran at home.
     *
     * @param nanos time of the task, in nanoseconds
     * @param bytes bytes that it read, above 0
     * @return the new state
     */
    public CrossingCost atHome(long nanos, long bytes) {
        return new CrossingCost(
                homeNanos * KEPT + nanos,
                homeBytes * KEPT + bytes,
                homes * KEPT + 1,
                crossedNanos,
                crossingBytes,
                crossings);
    }

    /**
     * The cost updated by a task that crossed.
     *
     * @param nanos time of the task, in nanoseconds
     * @param bytes bytes that it read, above 0
     * @return the new state
     */
    public CrossingCost crossed(long nanos, long bytes) {
        return new CrossingCost(
                homeNanos,
                homeBytes,
                homes,
                crossedNanos * KEPT + nanos,
                crossingBytes * KEPT + bytes,
                crossings * KEPT + 1);
    }

    /** {@return the extra time of a mean task away from home, in nanoseconds, at least 0; 0 if not measured} */
    public double lossNanos() {
        return homes == 0 ? 0 : slowdown() * homeNanos / homes;
    }

    /** {@return the extra time of a task away from home, as a share of its time at home, at least 0; 0 if not measured} */
    public double slowdown() {
        return homeNanos == 0 || crossingBytes == 0
                ? 0
                : Math.max(0, crossedNanos / crossingBytes / (homeNanos / homeBytes) - 1);
    }
}
