package io.github.roost.lucene;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.vector.Vectors;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.jspecify.annotations.Nullable;

/**
 * The width of searches of a {@link RoostVectorsFormat} graph, for Lucene's own queries: {@code new KnnFloatVectorQuery(field,
 * vector, k, filter, new SearchEffort(64))}. It replaces a larger {@code k}, whose surplus hits would all be collected
 * and dropped. Other formats ignore it. Immutable; thread-safe.
 *
 * <p>Lucene's hints for its own graph search have no effect in Roost's graphs: the patience of a {@code PatienceKnnVectorQuery}, the entry
 * points of a {@code SeededKnnVectorQuery}, and the threshold of {@link KnnSearchStrategy.Hnsw}. Such a query has the hits of the query
 * that it wraps, and its width.
 *
 * @see KnnFloatVectorQuery#KnnFloatVectorQuery(String, float[], int, org.apache.lucene.search.Query, KnnSearchStrategy)
 */
public final class SearchEffort extends KnnSearchStrategy {
    /** Largest width. */
    public static final int MAX_WIDTH = Vectors.MAX_EF;

    private final int width;

    /**
     * Creates a strategy with a width.
     *
     * @param width HNSW's ef in each segment's search, from 1 to {@link #MAX_WIDTH}; raised to k if k is larger
     * @throws IllegalArgumentException if the width is out of range
     */
    public SearchEffort(int width) {
        Vectors.requireRange("width", width, 1, MAX_WIDTH);
        this.width = width;
    }

    /** The width set by a strategy, at least k; a little more than k if it sets none. */
    static int widthOf(@Nullable KnnSearchStrategy strategy, int k) {
        return switch (strategy) {
            case SearchEffort effort -> Math.max(effort.width, k);
            case Seeded seeded -> widthOf(seeded.originalStrategy(), k);
            case null, default -> Graph.width(k);
        };
    }

    /**
     * The width.
     *
     * @return from 1 to {@link #MAX_WIDTH}
     */
    public int width() {
        return width;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SearchEffort that && width == that.width;
    }

    @Override
    public int hashCode() {
        return Integer.hashCode(width);
    }

    /** Does nothing: the width is the same for the whole search. */
    @Override
    public void nextVectorsBlock() {}

    @Override
    public String toString() {
        return "SearchEffort(" + width + ")";
    }
}
