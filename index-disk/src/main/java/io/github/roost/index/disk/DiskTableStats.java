package io.github.roost.index.disk;

import java.util.List;

/**
 * Counts of a table since it was opened, over searches that have ended by themselves.
 *
 * @param searches how many
 * @param pagesRead pages of 4 KiB
 * @param pagesInMemory changed pages that searches took from memory
 * @param codesCompared codes that searches compared with their queries
 * @param updatePagesRead pages of 4 KiB that updates read
 * @param nodesExpanded nodes whose vectors and neighbours were looked at
 * @param stalledNanos how long searches were parked
 * @param busyNanos how long their slices ran
 * @param damagedPages numbers of damaged pages that searches came upon, ascending, at most 1,000 of them
 * @param traffic of searches and updates together, by tier
 * @param memoryBytes bytes of codes and ids that are kept in memory, and of what finds a row by its id
 * @param fileBytes bytes of the file
 * @param updates inserts, replacements and deletes done
 * @param updateNanos time that they took on workers, without their waits
 * @param pruneNanos the part of it in which neighbours were chosen
 * @param checkpoints written
 * @param changedPages pages that have changed since the last checkpoint, on the heap
 * @param deletedNodes nodes of deleted rows that are still in the graph
 * @param takenOut nodes of deleted rows that were taken out of the graph; those of the pass that is under way count in proportion to
 *     how far it has come
 */
public record DiskTableStats(
        long searches,
        long pagesRead,
        long pagesInMemory,
        long codesCompared,
        long updatePagesRead,
        long nodesExpanded,
        long stalledNanos,
        long busyNanos,
        List<Integer> damagedPages,
        Traffic traffic,
        long memoryBytes,
        long fileBytes,
        long updates,
        long updateNanos,
        long pruneNanos,
        long checkpoints,
        int changedPages,
        int deletedNodes,
        double takenOut) {
    /**
     * Bytes that were touched, by where they lay.
     *
     * @param codes in memory, of the rows that were compared by their codes
     * @param changedPages in memory, of pages that have changed since the last checkpoint
     * @param pageCache read through the system's page cache, which may have held them or not
     * @param device read past it
     */
    public record Traffic(long codes, long changedPages, long pageCache, long device) {}

    /** {@return the part of the searches' time in which they waited for reads, from 0 to 1} */
    public double stalledShare() {
        return (double) stalledNanos / Math.max(1, stalledNanos + busyNanos);
    }
}
