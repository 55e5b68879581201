package io.github.roost.index.disk;

import io.github.roost.core.Neighbors;

/**
 * What a search has found, and what it cost.
 *
 * @param neighbors at most k, nearest first; by external id, ties by ascending id
 * @param pagesRead pages of 4 KiB
 * @param pagesInMemory changed pages, which were taken from memory
 * @param nodesExpanded nodes whose vectors and neighbours were looked at
 * @param codesCompared codes that were compared with the query
 * @param cutShort whether it ended at its visit limit, before it had read all in sight
 * @param damagedPages pages that could not be read or whose checksum was wrong: their nodes are not among the neighbours
 * @param stalledNanos how long the search was parked, in which its worker was free for something else
 * @param busyNanos how long its slices ran
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
