package io.github.roost.index.disk;

import java.util.List;

/**
 * Counts of a table since it was opened, over searches that have ended by themselves.
 *
 * @param searches how many
 * @param pagesRead pages of 4 KiB
 * @param nodesExpanded nodes whose vectors and neighbours were looked at
 * @param stalledNanos how long searches were parked
 * @param busyNanos how long their slices ran
 * @param damagedPages numbers of damaged pages that searches came upon, ascending, at most 1,000 of them
 * @param memoryBytes bytes of codes and ids that are kept in memory
 * @param fileBytes bytes of the file
 */
public record DiskTableStats(
        long searches,
        long pagesRead,
        long nodesExpanded,
        long stalledNanos,
        long busyNanos,
        List<Integer> damagedPages,
        long memoryBytes,
        long fileBytes) {
    /** {@return the part of the searches' time in which they waited for reads, from 0 to 1} */
    public double stalledShare() {
        return (double) stalledNanos / Math.max(1, stalledNanos + busyNanos);
    }
}
