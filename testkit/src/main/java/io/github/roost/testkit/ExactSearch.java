package io.github.roost.testkit;

import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/**
 * Brute-force search by squared Euclidean distance or inner product: the ground truth for recall. Immutable and thread-safe, as long as
 * the vectors do not change.
 */
public final class ExactSearch {
    private final float[][] base;
    private final boolean byProduct;

    /**
     * Searches by squared Euclidean distance.
     *
     * @param base vectors of one width, at least one; not copied
     */
    public ExactSearch(float[][] base) {
        this(base, Metric.SQUARED_L2);
    }

    /**
     * Searches by a metric.
     *
     * @param base vectors of one width, at least one; not copied
     * @param metric not cosine
     */
    public ExactSearch(float[][] base, Metric metric) {
        if (metric == Metric.COSINE) {
            throw new IllegalArgumentException("the metric must be SQUARED_L2 or INNER_PRODUCT, got COSINE");
        }
        if (base.length == 0) {
            throw new IllegalArgumentException("the base must have at least one vector, got none");
        }
        this.base = base;
        this.byProduct = metric == Metric.INNER_PRODUCT;
    }

    /**
     * Finds the k nearest vectors of the base; ties by ordinal.
     *
     * @param query of the base's width
     * @param k from 1 to the size of the base
     */
    public SearchResult search(float[] query, int k) {
        if (k < 1 || k > base.length) {
            throw new IllegalArgumentException("k must be between 1 and " + base.length + ", got " + k);
        }
        PriorityQueue<Found> nearest = new PriorityQueue<>(k + 1);
        for (int ordinal = 0; ordinal < base.length; ordinal++) {
            float distance = distance(query, base[ordinal]);
            if (nearest.size() < k) {
                nearest.add(new Found(ordinal, distance));
            } else if (distance < nearest.element().distance) {
                nearest.remove();
                nearest.add(new Found(ordinal, distance));
            }
        }
        return sorted(nearest);
    }

    /** The distance of two vectors of the base's width: the smaller, the nearer. */
    public float distance(float[] query, float[] vector) {
        return byProduct ? -Vectors.product(query, vector) : Vectors.squaredDistance(query, vector);
    }

    /** Finds the k nearest vectors of each query, on all CPUs. */
    public SearchResult[] searchAll(float[][] queries, int k) {
        return IntStream.range(0, queries.length)
                .parallel()
                .mapToObj(i -> search(queries[i], k))
                .toArray(SearchResult[]::new);
    }

    private static SearchResult sorted(PriorityQueue<Found> nearest) {
        long[] ids = new long[nearest.size()];
        float[] distances = new float[ids.length];
        for (int i = ids.length - 1; i >= 0; i--) {
            Found found = nearest.remove();
            ids[i] = found.ordinal;
            distances[i] = found.distance;
        }
        return new SearchResult(ids, distances);
    }

    /** Ordered farthest first, then by ordinal descending. */
    private record Found(int ordinal, float distance) implements Comparable<Found> {
        @Override
        public int compareTo(Found other) {
            int byDistance = Float.compare(other.distance, distance);
            return byDistance != 0 ? byDistance : Integer.compare(other.ordinal, ordinal);
        }
    }
}
