package io.github.roost.index.remote;

import io.github.roost.core.vector.SearchRequest;

/** One query on its way through its partitions. Immutable, but for what it still needs of the cache. Thread-safe. */
final class Asked {
    /** A search of a partition looks at its limit after so many vectors: one of fewer is no limit. */
    private static final int MIN_PER_PARTITION = 384;

    private final SearchRequest request;
    private final int ef;
    private final int effort;
    /** Partitions that it visits; guarded by this object. Those that it needs no more are -1. */
    private int[] needed = {};

    Asked(SearchRequest request, int ef, int effort) {
        this.request = request;
        this.ef = Math.max(ef, request.k());
        this.effort = effort;
    }

    SearchRequest request() {
        return request;
    }

    /** Width of the search of a partition. */
    int ef() {
        return ef;
    }

    /**
     * How many partitions it visits. The query's limit is shared by its partitions; where that leaves too little for each, it visits the
     * nearest only.
     */
    int visited() {
        return Math.clamp(request.visitLimit() / MIN_PER_PARTITION, 1, effort);
    }

    /** Vectors that may be compared in each. */
    long visitLimit() {
        return request.visitLimit() / visited();
    }

    /** Whether it visits fewer than its effort asks for. */
    boolean cutShort() {
        return visited() < effort;
    }

    /** From now on these partitions stay in the cache for it; {@link #over} must be called when it is over. */
    synchronized void needs(int[] partitions, PartitionCache cache) {
        needed = partitions.clone();
        cache.needs(partitions);
    }

    /** It has been searched for in a partition. */
    synchronized void served(int partition, PartitionCache cache) {
        for (int i = 0; i < needed.length; i++) {
            if (needed[i] == partition) {
                needed[i] = -1;
                cache.needsNoMore(partition);
            }
        }
    }

    /** It needs nothing any more. */
    synchronized void over(PartitionCache cache) {
        for (int partition : needed.clone()) {
            if (partition >= 0) {
                served(partition, cache);
            }
        }
    }
}
