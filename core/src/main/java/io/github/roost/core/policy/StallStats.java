package io.github.roost.core.policy;

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
public record StallStats(
        long stalls,
        long empty,
        long stalledNanos,
        long filledNanos,
        long overrunNanos,
        double share,
        double slowdown) {
    /** The statistics before the first stall. */
    public static final StallStats NONE = new StallStats(0, 0, 0, 0, 0, 1, 0);

    /**
     * Returns the statistics of several workers together.
     *
     * @param workers the statistics of each worker
     * @return sums, and means of shares and slowdowns over the workers that had stalls
     */
    public static StallStats of(Iterable<StallStats> workers) {
        StallStats sum = NONE;
        int some = 0;
        double share = 0;
        double slowdown = 0;
        for (StallStats one : workers) {
            if (one.stalls > 0) {
                some++;
                share += one.share;
                slowdown += one.slowdown;
                sum = new StallStats(
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
