package io.github.roost.index.disk;

import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Vectors;

/**
 * The parameters of a search of a table on disk. Immutable.
 *
 * @param k number of neighbours, from 1 to 10,000
 * @param width number of nearest nodes that the search keeps and reads (its ef), from k to 100,000: a larger width finds more of
 *     the true neighbours and takes longer
 * @param reads max concurrent page reads, from 1 to 64
 * @param mode how it waits for reads
 * @param filter rows that it may find
 * @param visitLimit max codes to compare with the query before it ends with the rows found so far, at least 1
 */
public record DiskSearch(int k, int width, int reads, Mode mode, IdFilter filter, long visitLimit) {
    /** The max width. */
    public static final int MAX_WIDTH = Vectors.MAX_EF;

    /** Max concurrent page reads of one search. */
    public static final int MAX_READS = 64;

    private static final int DEFAULT_READS = 4;

    /** How a search waits for its reads. */
    public enum Mode {
        /**
         * Reads some pages and waits for all of them (Subramanya et al., "DiskANN", NeurIPS 2019): fewest pages per search.
         */
        BEAM,
        /**
         * Keeps reads in flight while it processes completed ones, first few and then more (Guo and Lu, "Achieving
         * Low-Latency Graph-Based Vector Search", OSDI 2025): some more pages per search, at lower latency.
         */
        PIPELINED
    }

    /** Checks the ranges. */
    public DiskSearch {
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        Vectors.requireRange("width", width, k, MAX_WIDTH);
        Vectors.requireRange("reads", reads, 1, MAX_READS);
        if (mode == null) {
            throw new NullPointerException("mode must not be null");
        }
        if (filter == null) {
            throw new NullPointerException("filter must not be null");
        }
        if (visitLimit < 1) {
            throw new IllegalArgumentException("the visit limit must be at least 1, got " + visitLimit);
        }
    }

    /**
     * A beam search with four concurrent reads and no filter.
     *
     * @param k number of neighbours, from 1 to 10,000
     * @param width from k to 100,000
     * @return the parameters
     */
    public static DiskSearch of(int k, int width) {
        return new DiskSearch(k, width, DEFAULT_READS, Mode.BEAM, IdFilter.all(), Long.MAX_VALUE);
    }

    /**
     * A copy with other reads.
     *
     * @param count max concurrent reads, from 1 to 64
     * @param how how it waits for them
     * @return the parameters
     */
    public DiskSearch withReads(int count, Mode how) {
        return new DiskSearch(k, width, count, how, filter, visitLimit);
    }

    /**
     * A copy with a filter.
     *
     * @param only rows that may be found; called for some rows per search
     * @return the parameters
     */
    public DiskSearch withFilter(IdFilter only) {
        return new DiskSearch(k, width, reads, mode, only, visitLimit);
    }

    /**
     * A copy with a visit limit.
     *
     * @param max maximum codes to compare with the query, at least 1; checked whenever pages have been read and for each further node of a page
     * @return the parameters
     */
    public DiskSearch withVisitLimit(long max) {
        return new DiskSearch(k, width, reads, mode, filter, max);
    }
}
