package io.github.roost.index.remote;

import io.github.roost.core.vector.SearchRequest;

/**
 * One query on its way through its partitions. Immutable.
 *
 * @param request what to find
 * @param ef width of the search of a partition
 * @param visited partitions that it visits
 * @param visitLimit vectors that may be compared in each
 * @param cutShort whether it visits fewer than its effort asks for
 * @param directory where partitions are, of one epoch for the whole search
 */
record Asked(SearchRequest request, int ef, int visited, long visitLimit, boolean cutShort, Directory directory) {
    /** A search of a partition looks at its limit after so many vectors: one of fewer is no limit. */
    private static final int LEAST_PER_PARTITION = 384;

    /** The query's limit is shared by its partitions; where that leaves too little for each, it visits the nearest only. */
    static Asked of(SearchRequest request, int ef, int effort, Directory directory) {
        int most = Math.clamp(request.visitLimit() / LEAST_PER_PARTITION, 1, effort);
        return new Asked(
                request, Math.max(ef, request.k()), most, request.visitLimit() / most, most < effort, directory);
    }
}
