package io.github.roost.index.remote.pool;

import io.github.roost.core.SearchContext;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchResult;
import java.util.List;

/** Finds the centroids nearest to a vector. Stateless. */
public final class Centroids {
    /** Up to this many centroids are compared one by one, which is exact; of more the graph is searched with this ef, for up to as many. */
    private static final int MAX_SCANNED = 1_024;

    private static final SearchContext OUTSIDE = SearchContext.outside((nodes, bytes) -> {});

    private Centroids() {}

    /** The nearest centroids; their ids are the partitions' numbers. */
    public static SearchResult nearest(Graph centroids, float[] vector, int count) {
        if (centroids.rows() <= MAX_SCANNED || count > MAX_SCANNED) {
            return centroids
                    .scanTogether(List.of(vector), count, IdFilter.all(), IdFilter.all(), OUTSIDE)
                    .getFirst();
        }
        return centroids.search(vector, count, MAX_SCANNED, IdFilter.all(), IdFilter.all(), Long.MAX_VALUE, OUTSIDE);
    }
}
