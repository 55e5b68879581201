package io.github.roost.index.disk;

import io.github.roost.vector.Neighbors;

/**
 * The result and the cost of a search.
 *
 * @param neighbors at most k, nearest first; by external id, ties by ascending id
 * @param pagesRead pages of 4 KiB
 * @param pagesInMemory changed pages taken from memory
 * @param nodesExpanded nodes whose vectors and neighbours were read
 * @param codesCompared codes compared with the query
 * @param cutShort whether it ended at its visit limit, before all kept nodes were read
 * @param damagedPages unusable pages, unreadable or with a wrong checksum: their nodes are not among the neighbours
 * @param stalledNanos time that the search was parked, while its worker was free for other tasks
 * @param busyNanos time that its slices ran
 */
public record DiskAnswer(
        Neighbors neighbors,
        int pagesRead,
        int pagesInMemory,
        int nodesExpanded,
        long codesCompared,
        boolean cutShort,
        int damagedPages,
        long stalledNanos,
        long busyNanos) {}
