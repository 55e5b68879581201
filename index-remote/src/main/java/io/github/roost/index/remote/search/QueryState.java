package io.github.roost.index.remote.search;

import io.github.roost.index.remote.cache.PartitionCache;
import io.github.roost.vector.SearchRequest;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The state of one query while it visits its partitions. Its visits change it by turns: {@link #divide} is called by the thread that begins them,
 * when none is under way. Thread-safe otherwise.
 */
final class QueryState {
    /** A search of a partition checks its visit limit only after this many vectors, so a smaller limit has no effect. */
    private static final int MIN_PER_PARTITION = 384;

    private final SearchRequest request;
    private final int ef;
    private final int effort;
    private final PartitionCache cache;
    /** Maximum number of vectors compared per partition. */
    private long visitLimit = Long.MAX_VALUE;

    private boolean cutShort;
    /** Partitions that this query still needs, -1 for served ones; guarded by this object. */
    private int[] needed = {};
    /** Guarded by this object. */
    private boolean released;

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

    /** Number of partitions to visit, unless they have too few rows. */
    int effort() {
        return effort;
    }

    /**
     * Divides what is left of the visit limit among partitions that will be visited.
     *
     * @param wanted number of partitions, at least 1
     * @param compared number of vectors compared so far
     * @return number of partitions that may be visited: fewer if the limit leaves too little for each
     */
    int divide(int wanted, long compared) {
        if (request.visitLimit() == Long.MAX_VALUE) {
            return wanted;
        }
        long left = Math.max(0, request.visitLimit() - compared);
        // The first visits happen whatever the limit.
        int visits = Math.clamp(left / MIN_PER_PARTITION, compared == 0 ? 1 : 0, wanted);
        cutShort |= visits < wanted;
        visitLimit = left / Math.max(1, visits);
        return visits;
    }

    /** Maximum number of vectors compared per partition. */
    long visitLimit() {
        return visitLimit;
    }

    /** Whether the visit limit has reduced the number of partitions. */
    boolean cutShort() {
        return cutShort;
    }

    /**
     * Keeps these partitions in the cache, and those before, until they are {@link #served} or this query is {@linkplain #release released}; does
     * nothing after that.
     */
    synchronized void need(int[] partitions) {
        if (released) {
            return;
        }
        needed = IntStream.concat(Arrays.stream(needed).filter(partition -> partition >= 0), Arrays.stream(partitions))
                .toArray();
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
        released = true;
        for (int partition : needed.clone()) {
            if (partition >= 0) {
                served(partition);
            }
        }
    }
}
