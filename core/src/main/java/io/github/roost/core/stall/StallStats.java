package io.github.roost.core.stall;

/**
 * What the stalls of a worker were, or of several, since their policy was set. Counted where a policy measures stalls.
 *
 * @param stalls how many
 * @param empty those that were left empty to compare with
 * @param stalledNanos their length, all together, with the overrun of what filled them
 * @param filledNanos maintenance in them
 * @param overrunNanos of the steps that filled them, from when the bytes were there, as it is estimated
 * @param share of the stalls that may be filled now, the mean of the workers
 * @param slowdown by which searches take longer than with empty stalls, as a share of the time from one stall to the next: the overrun,
 *     and what is computed longer after it; the mean of the workers
 */
public record StallStats(
        long stalls,
        long empty,
        long stalledNanos,
        long filledNanos,
        long overrunNanos,
        double share,
        double slowdown) {
    /** Nothing was counted. */
    public static final StallStats NONE = new StallStats(0, 0, 0, 0, 0, 1, 0);

    /**
     * The stalls of several workers.
     *
     * @param workers of each
     * @return sums, and means of shares and slowdowns over those that had stalls
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
