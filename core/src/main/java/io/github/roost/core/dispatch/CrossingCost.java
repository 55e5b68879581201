package io.github.roost.core.dispatch;

/**
 * The measured cost of running a domain's tasks in another domain: the time per byte there, relative to the time per byte at
 * home. If tables are so large that searches miss the cache at home too, crossing costs almost nothing, and a gate would only
 * add waiting. A task that crosses loses this time itself; if most workers there are busy, the searches whose data it evicts
 * lose about as much. Crossing pays if the wait at home is longer than these losses. While too few tasks have crossed to
 * measure, one task now and then crosses as a trial, and the {@linkplain #plus sum} of all domains stands in. Immutable and
 * pure: the pool and the simulator keep one per domain and replace it.
 *
 * @param homeNanos decayed sum of the times of tasks at home, in nanoseconds
 * @param homeBytes decayed sum of the bytes that those tasks read
 * @param homes decayed number of those tasks
 * @param crossedNanos decayed sum of the times of tasks that crossed, in nanoseconds
 * @param crossingBytes decayed sum of the bytes that those tasks read
 * @param crossings decayed number of tasks that crossed
 * @param sinceCrossing number of tasks at home since the last task that crossed, at most the interval of trials
 */
public record CrossingCost(
        double homeNanos,
        double homeBytes,
        double homes,
        double crossedNanos,
        double crossingBytes,
        double crossings,
        int sinceCrossing) {
    /** The initial state, without measurements or traffic: crossing never pays. */
    public static final CrossingCost UNKNOWN = new CrossingCost(0, 0, 0, 0, 0, 0, 0);

    /** A worker measures one task at home out of this many: otherwise all workers would write the same cache line per task. */
    public static final int TASKS_PER_MEASURE = 16;

    /** Decay of the sums per added task, so they cover about 64 tasks. */
    private static final double KEPT = 1 - 1 / 64.0;
    /** Minimum number of crossings for a ratio. */
    private static final double ENOUGH = 4;
    /** Number of crossings at which trials stop. */
    private static final double PLENTY = 32;
    /** Tasks at home per trial: 1.5 % of tasks cross. */
    private static final int TASKS_PER_TRIAL = 64;
    /** Weight of the slowdown if only the task itself loses time. */
    private static final double OWN = 1;
    /** Weight of the slowdown if the searches whose data the task evicts lose time too. */
    private static final double OWN_AND_OTHERS = 2;

    /**
     * The cost updated by a task that ran at home.
     *
     * @param nanos time of the task, in nanoseconds
     * @param bytes bytes that it read, above 0
     * @param tasks number of tasks that this measurement stands for, at least 1
     * @return the new state
     */
    public CrossingCost atHome(long nanos, long bytes, int tasks) {
        return new CrossingCost(
                homeNanos * KEPT + nanos,
                homeBytes * KEPT + bytes,
                homes * KEPT + 1,
                crossedNanos,
                crossingBytes,
                crossings,
                Math.min(TASKS_PER_TRIAL, sinceCrossing + tasks));
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
                crossings * KEPT + 1,
                0);
    }

    /**
     * The measurements of two domains together.
     *
     * @param other the cost of another domain
     * @return the sums of both; no trial is due
     */
    public CrossingCost plus(CrossingCost other) {
        return new CrossingCost(
                homeNanos + other.homeNanos,
                homeBytes + other.homeBytes,
                homes + other.homes,
                crossedNanos + other.crossedNanos,
                crossingBytes + other.crossingBytes,
                crossings + other.crossings,
                0);
    }

    /** {@return whether enough tasks were measured, at home and away} */
    public boolean isMeasured() {
        return crossings >= ENOUGH && homeBytes > 0;
    }

    /** {@return whether a task should cross to measure the cost, whatever it is} */
    public boolean trialIsDue() {
        return sinceCrossing >= TASKS_PER_TRIAL && crossings < PLENTY;
    }

    /**
     * Whether the next task of the domain should cross instead of waiting.
     *
     * @param waiting number of tasks that wait in the domain
     * @param workers number of workers of the domain, all of them busy
     * @param mostBusyThere whether more than half of the workers of the other domain are busy; otherwise the task evicts little
     *     data that is in use
     * @return whether the predicted wait is longer than the loss by crossing; false if the cost is not measured
     */
    public boolean pays(int waiting, int workers, boolean mostBusyThere) {
        double losses = mostBusyThere ? OWN_AND_OTHERS : OWN;
        return isMeasured() && waiting > losses * slowdown() * workers;
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
