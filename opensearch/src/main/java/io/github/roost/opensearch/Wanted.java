package io.github.roost.opensearch;

import io.github.roost.lucene.SearchEffort;
import io.github.roost.vector.Vectors;
import org.jspecify.annotations.Nullable;

/**
 * Which documents a query wants, and how they are searched for. Immutable.
 *
 * @param k the number of nearest documents per shard, 1 to {@link #MAX_K}; null for all documents near enough
 * @param minScore hits with lower scores are dropped; null for none, finite
 * @param maxDistance hits with greater distances are dropped; null for none, finite
 * @param effort width of the search in each segment, 1 to {@link #MAX_EFFORT}; null for the default of the index
 * @param exact whether all vectors are scored, rather than graphs searched
 */
record Wanted(
        @Nullable Integer k,
        @Nullable Float minScore,
        @Nullable Float maxDistance,
        @Nullable Integer effort,
        boolean exact) {
    static final int MAX_K = Vectors.MAX_NEIGHBORS;
    static final int MAX_EFFORT = SearchEffort.MAX_WIDTH;

    private static final int DEFAULT_K = 10;

    Wanted {
        if (minScore != null && maxDistance != null) {
            throw new IllegalArgumentException(
                    "min_score or max_distance must be given, one of the two, got " + minScore + " and " + maxDistance);
        }
        if (k != null && maxDistance != null) {
            throw new IllegalArgumentException(
                    "max_distance must be given without k, got " + maxDistance + " with a k of " + k);
        }
        if (effort != null && exact) {
            throw new IllegalArgumentException(
                    "an exact search must be without effort, which is for graphs, got " + effort);
        }
        if (k == null && minScore == null && maxDistance == null) {
            k = DEFAULT_K;
        }
        if (k != null) {
            Vectors.requireRange("k", k, 1, MAX_K);
        }
        if (effort != null) {
            Vectors.requireRange("effort", effort, 1, MAX_EFFORT);
        }
        requireFinite("min_score", minScore);
        requireFinite("max_distance", maxDistance);
    }

    private static void requireFinite(String name, @Nullable Float value) {
        if (value != null && !Float.isFinite(value)) {
            throw new IllegalArgumentException(name + " must be finite, got " + value);
        }
    }

    /** Whether nodes understand it whose plugins know neither {@code max_distance}, nor {@code exact}, nor a query without k. */
    boolean isOfFirstVersion() {
        return k != null && !exact;
    }
}
