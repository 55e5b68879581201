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
 * @param updates inserts, replacements and deletes done
 * @param updateNanos time that they took on workers, without their waits
 * @param pruneNanos the part of it in which neighbours were chosen
 * @param checkpoints written
 * @param changedPages pages that have changed since the last checkpoint, on the heap
 * @param deletedNodes nodes of deleted rows that are still in the graph
 */
public record DiskTableStats(
        long searches,
        long pagesRead,
        long nodesExpanded,
        long stalledNanos,
        long busyNanos,
        List<Integer> damagedPages,
        long memoryBytes,
        long fileBytes,
        long updates,
        long updateNanos,
        long pruneNanos,
        long checkpoints,
        int changedPages,
        int deletedNodes) {
    /** {@return the part of the searches' time in which they waited for reads, from 0 to 1} */
    public double stalledShare() {
        return (double) stalledNanos / Math.max(1, stalledNanos + busyNanos);
    }
}
