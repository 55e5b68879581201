package io.github.roost.index.disk;

import java.util.List;

/**
 * Counts of a table since it was opened; searches that failed or were cancelled are not counted.
 *
 * @param searches number of searches
 * @param pagesRead pages of 4 KiB that searches read
 * @param pagesInMemory changed pages that searches took from memory
 * @param codesCompared codes that searches compared with their queries
 * @param updatePagesRead pages of 4 KiB that updates read
 * @param nodesExpanded nodes whose vectors and neighbors searches read
 * @param stalledNanos time that searches were parked
 * @param busyNanos time that their slices ran
 * @param damagedPages numbers of damaged pages found so far, ascending, at most 1,000
 * @param traffic bytes read by searches and updates, by tier
 * @param memoryBytes bytes of codes, ids and the table that finds a row by its id
 * @param fileBytes bytes of the file
 * @param updates inserts, replacements and deletes done
 * @param updateNanos time that they ran, without waits
 * @param pruneNanos the part of it spent choosing neighbors
 * @param checkpoints number of checkpoints written
 * @param changedPages pages changed since the last checkpoint, on the heap
 * @param deletedNodes nodes of deleted rows that are still in the graph
 * @param takenOut nodes of deleted rows that repairs have removed from the graph; those of the running pass are counted in proportion
 *     to its progress
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
     * Bytes read, by where they were.
     *
     * @param codes in memory, codes that searches compared with their queries
     * @param changedPages in memory, pages that searches took from memory
     * @param pageCache read through the system's page cache, which may have held them or not
     * @param device read from the device with direct I/O
     */
    public record Traffic(long codes, long changedPages, long pageCache, long device) {}

    /** {@return the share of the searches' time spent waiting for reads, from 0 to 1} */
    public double stalledShare() {
        return (double) stalledNanos / Math.max(1, stalledNanos + busyNanos);
    }
}
