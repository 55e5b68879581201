package io.github.roost.lucene;

import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.jspecify.annotations.Nullable;

/**
 * How wide a {@link RoostVectorsFormat} graph is searched, for queries of Lucene's own: {@code new KnnFloatVectorQuery(field,
 * vector, k, filter, new SearchEffort(64))}. It takes the place of a larger {@code k}, whose surplus hits would all be collected
 * and dropped. Formats other than Roost's search as they do without it. Immutable; thread-safe.
 *
 * @see KnnFloatVectorQuery#KnnFloatVectorQuery(String, float[], int, org.apache.lucene.search.Query, KnnSearchStrategy)
 */
public final class SearchEffort extends KnnSearchStrategy {
    /** The widest search. */
    public static final int MAX_WIDTH = 100_000;

    private final int width;

    /**
     * Searches of some width.
     *
     * @param width how many of the nearest each segment's search keeps on its way (HNSW's ef), from 1 to {@link #MAX_WIDTH};
     *     less than k is as k
     * @throws IllegalArgumentException if it is not within this range
     */
    public SearchEffort(int width) {
        if (width < 1 || width > MAX_WIDTH) {
            throw new IllegalArgumentException("width must be between 1 and " + MAX_WIDTH + ", got " + width);
        }
        this.width = width;
    }

    /** The width that a strategy asks for, at least k. */
    static int widthOf(@Nullable KnnSearchStrategy strategy, int k) {
        return switch (strategy) {
            case SearchEffort effort -> Math.max(effort.width, k);
            case Seeded seeded -> widthOf(seeded.originalStrategy(), k);
            case null, default -> k;
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

    /** Does nothing: the width is the same for all of a search. */
    @Override
    public void nextVectorsBlock() {}

    @Override
    public String toString() {
        return "SearchEffort(" + width + ")";
    }
}
