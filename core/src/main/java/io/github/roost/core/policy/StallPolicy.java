package io.github.roost.core.policy;

/**
 * How workers fill their stalls with maintenance. A stall is the time in which a worker has only searches that wait for bytes. Under every
 * policy, maintenance also gets its share of busy workers' time, and workers without searches run it at once.
 *
 * @param fills whether stalls are filled; if not, {@code isBudgeted} has no effect
 * @param isBudgeted whether the length of stalls is estimated, and a stall filled in one step for as long as the expected overrun allows
 *     (after the paper on leveraging I/O stalls, arXiv 2605.19335); if not, stalls are filled in steps of {@value #STEP_NANOS} ns, and the
 *     worker polls for the bytes between two steps
 * @param maxOverrun the maximum expected delay of a search's resumption, averaged over all stalls, as a share of the time from one stall
 *     to the next; used if {@code isBudgeted}
 * @param latencyTarget how much longer searches may take than with empty stalls, as a share; NaN for no target: every stall may be filled
 */
public record StallPolicy(boolean fills, boolean isBudgeted, double maxOverrun, double latencyTarget) {
    /** The default maximum length of a step of maintenance. */
    public static final long STEP_NANOS = 5_000;

    private static final double DEFAULT_OVERRUN = .05;

    /** Stalls are filled in short steps while there is maintenance: the default. */
    public static final StallPolicy POLLED = new StallPolicy(true, false, DEFAULT_OVERRUN, Double.NaN);

    /** Stalls are filled by estimates of their length, with an expected overrun of at most 5 % of the time from one stall to the next. */
    public static final StallPolicy BUDGETED = new StallPolicy(true, true, DEFAULT_OVERRUN, Double.NaN);

    /** Stalls are left empty: maintenance gets idle workers, and its share of busy ones. */
    public static final StallPolicy UNFILLED = new StallPolicy(false, false, DEFAULT_OVERRUN, Double.NaN);

    /** Checks the shares. */
    public StallPolicy {
        requireShare("overrun", maxOverrun);
        if (!Double.isNaN(latencyTarget)) {
            requireShare("latency target", latencyTarget);
        }
    }

    private static void requireShare(String what, double share) {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("the " + what + " must be above 0 and at most 1, got " + share);
        }
    }

    /**
     * Returns this policy with a latency target: one stall in sixteen is left empty, as the reference, and the share of the other stalls
     * that is filled is adjusted until searches take longer by the target.
     *
     * @param target above 0, at most 1: .05 for searches that take 5 % longer; if {@code isBudgeted} it also bounds the overrun
     * @return the policy
     */
    public StallPolicy withLatencyTarget(double target) {
        return new StallPolicy(fills, isBudgeted, isBudgeted ? target : maxOverrun, target);
    }

    /** {@return whether stalls are filled without measuring them} */
    public boolean isPlain() {
        return fills && !isBudgeted && !hasTarget();
    }

    /** {@return whether there is a latency target} */
    public boolean hasTarget() {
        return !Double.isNaN(latencyTarget);
    }

    /**
     * Statistics of the stalls of one or several workers since their policy was set. All zero, but a share of 1, if the policy measures none.
     *
     * @param stalls number of stalls
     * @param empty number of stalls that were left empty as a reference
     * @param stalledNanos their total length, including overrun
     * @param filledNanos total time of maintenance in them
     * @param overrunNanos estimated total time that maintenance ran after the bytes had arrived
     * @param share the present share of stalls that may be filled, as the mean of the workers
     * @param slowdown how much longer searches take than with empty stalls, by overrun and by slower computation after it, as a share of the
     *     time from one stall to the next; the mean of the workers
     */
    public record Stats(
            long stalls,
            long empty,
            long stalledNanos,
            long filledNanos,
            long overrunNanos,
            double share,
            double slowdown) {
        /** The statistics before the first stall. */
        public static final Stats NONE = new Stats(0, 0, 0, 0, 0, 1, 0);

        /**
         * Returns the statistics of several workers together.
         *
         * @param workers the statistics of each worker
         * @return sums, and means of shares and slowdowns over the workers that had stalls
         */
        public static Stats of(Iterable<Stats> workers) {
            Stats sum = NONE;
            int some = 0;
            double share = 0;
            double slowdown = 0;
            for (Stats one : workers) {
                if (one.stalls > 0) {
                    some++;
                    share += one.share;
                    slowdown += one.slowdown;
                    sum = new Stats(
                            sum.stalls + one.stalls,
                            sum.empty + one.empty,
                            sum.stalledNanos + one.stalledNanos,
                            sum.filledNanos + one.filledNanos,
                            sum.overrunNanos + one.overrunNanos,
                            share / some,
                            slowdown / some);
                }
            }
            return sum;
        }
    }
}
