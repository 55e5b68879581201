package io.github.roost.index.remote.search;

import io.github.roost.index.remote.cache.PartitionCache;
import io.github.roost.vector.SearchRequest;

/** The state of one query while it visits its partitions. Immutable, except for the partitions that it needs in the cache. Thread-safe. */
final class QueryState {
    /** A search of a partition checks its visit limit only after this many vectors, so a smaller limit has no effect. */
    private static final int MIN_PER_PARTITION = 384;

    private final SearchRequest request;
    private final int ef;
    private final int effort;
    private final PartitionCache cache;
    /** Partitions that this query still needs, -1 for served ones; guarded by this object. */
    private int[] needed = {};

    QueryState(SearchRequest request, int ef, int effort, PartitionCache cache) {
        this.request = request;
        this.ef = Math.max(ef, request.k());
        this.effort = effort;
        this.cache = cache;
    }

    SearchRequest request() {
        return request;
    }

    /** ef of the search in each partition. */
    int ef() {
        return ef;
    }

    /**
     * Number of partitions to visit. The query's visit limit is divided among its partitions; if that leaves too little for each, only the
     * nearest are visited.
     */
    int visited() {
        return Math.clamp(request.visitLimit() / MIN_PER_PARTITION, 1, effort);
    }

    /** Maximum number of vectors compared per partition. */
    long visitLimit() {
        return request.visitLimit() / visited();
    }

    /** Whether the visit limit reduces the number of partitions below the effort. */
    boolean cutShort() {
        return visited() < effort;
    }

    /** Keeps these partitions in the cache until they are {@link #served} or this query is {@linkplain #release released}. */
    synchronized void need(int[] partitions) {
        needed = partitions.clone();
        cache.needs(partitions);
    }

    /** Ends the need of a partition: the query was searched there. */
    synchronized void served(int partition) {
        for (int i = 0; i < needed.length; i++) {
            if (needed[i] == partition) {
                needed[i] = -1;
                cache.needsNoMore(partition);
            }
        }
    }

    /** Ends all needs. */
    synchronized void release() {
        for (int partition : needed.clone()) {
            if (partition >= 0) {
                served(partition);
            }
        }
    }
}
