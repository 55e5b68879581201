package io.github.roost.index.disk;

import io.github.roost.core.Vectors;
import io.github.roost.core.vector.IdFilter;

/**
 * How to search a table on disk. Immutable.
 *
 * @param k neighbours wanted, from 1 to 10,000
 * @param width nodes that the search keeps in sight and reads, from k to 100,000: larger finds more of the true neighbours and
 *     takes longer
 * @param reads pages that it reads at once, from 1 to 64
 * @param mode how it waits for them
 * @param filter what it may find
 * @param visitLimit codes that it may compare with the query before it ends with what it has found, at least 1
 */
public record DiskSearch(int k, int width, int reads, Mode mode, IdFilter filter, long visitLimit) {
    /** The greatest width. */
    public static final int MAX_WIDTH = 100_000;

    /** Most pages that one search reads at once. */
    public static final int MAX_READS = 64;

    private static final int DEFAULT_READS = 4;

    /** How a search waits for its reads. */
    public enum Mode {
        /**
         * Reads some pages and waits for all of them (Subramanya et al., "DiskANN", NeurIPS 2019): fewest pages for a result.
         */
        BEAM,
        /**
         * Keeps reads under way while it goes on with those that have ended, first few and then more (Guo and Lu, "Achieving
         * Low-Latency Graph-Based Vector Search", OSDI 2025): some more pages for a result, which is there sooner.
         */
        PIPELINED
    }

    /** Checks the numbers. */
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
     * A beam search with four reads at once, of all rows.
     *
     * @param k neighbours wanted, from 1 to 10,000
     * @param width from k to 100,000
     * @return how to search
     */
    public static DiskSearch of(int k, int width) {
        return new DiskSearch(k, width, DEFAULT_READS, Mode.BEAM, IdFilter.all(), Long.MAX_VALUE);
    }

    /**
     * The same with other reads.
     *
     * @param count at once, from 1 to 64
     * @param how it waits for them
     * @return how to search
     */
    public DiskSearch withReads(int count, Mode how) {
        return new DiskSearch(k, width, count, how, filter, visitLimit);
    }

    /**
     * The same, finding only what a filter allows.
     *
     * @param only which rows may be found; asked about some rows of each search
     * @return how to search
     */
    public DiskSearch withFilter(IdFilter only) {
        return new DiskSearch(k, width, reads, mode, only, visitLimit);
    }

    /**
     * The same, ending early.
     *
     * @param most codes that are compared with the query, at least 1; looked at whenever pages have come
     * @return how to search
     */
    public DiskSearch withVisitLimit(long most) {
        return new DiskSearch(k, width, reads, mode, filter, most);
    }
}
