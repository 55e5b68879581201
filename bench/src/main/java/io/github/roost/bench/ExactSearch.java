package io.github.roost.bench;

import io.github.roost.core.Neighbors;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/**
 * The true nearest neighbours by squared Euclidean distance, found by looking at every vector: the oracle that recall is
 * measured against. Immutable; the vectors must not change.
 */
public final class ExactSearch {
    private final float[][] base;

    /** @param base vectors of one width, at least one */
    public ExactSearch(float[][] base) {
        if (base.length == 0) {
            throw new IllegalArgumentException("the base must have at least one vector, got none");
        }
        this.base = base;
    }

    /**
     * The k nearest vectors of the base; ties by ordinal.
     *
     * @param query of the base's width
     * @param k from 1 to the size of the base
     */
    public Neighbors search(float[] query, int k) {
        if (k < 1 || k > base.length) {
            throw new IllegalArgumentException("k must be between 1 and " + base.length + ", got " + k);
        }
        PriorityQueue<Found> nearest = new PriorityQueue<>(k + 1);
        for (int ordinal = 0; ordinal < base.length; ordinal++) {
            float distance = squaredDistance(query, base[ordinal]);
            if (nearest.size() < k) {
                nearest.add(new Found(ordinal, distance));
            } else if (distance < nearest.element().distance) {
                nearest.remove();
                nearest.add(new Found(ordinal, distance));
            }
        }
        return sorted(nearest);
    }

    /** The k nearest vectors of each query, on all CPUs. */
    public Neighbors[] searchAll(float[][] queries, int k) {
        return IntStream.range(0, queries.length)
                .parallel()
                .mapToObj(i -> search(queries[i], k))
                .toArray(Neighbors[]::new);
    }

    private static float squaredDistance(float[] a, float[] b) {
        // Four sums, so that the additions of one need not wait for those of another.
        float s0 = 0;
        float s1 = 0;
        float s2 = 0;
        float s3 = 0;
        int i = 0;
        for (; i < a.length - 3; i += 4) {
            float d0 = a[i] - b[i];
            float d1 = a[i + 1] - b[i + 1];
            float d2 = a[i + 2] - b[i + 2];
            float d3 = a[i + 3] - b[i + 3];
            s0 += d0 * d0;
            s1 += d1 * d1;
            s2 += d2 * d2;
            s3 += d3 * d3;
        }
        for (; i < a.length; i++) {
            float d = a[i] - b[i];
            s0 += d * d;
        }
        return (s0 + s1) + (s2 + s3);
    }

    private static Neighbors sorted(PriorityQueue<Found> nearest) {
        long[] ids = new long[nearest.size()];
        float[] distances = new float[ids.length];
        for (int i = ids.length - 1; i >= 0; i--) {
            Found found = nearest.remove();
            ids[i] = found.ordinal;
            distances[i] = found.distance;
        }
        return new Neighbors(ids, distances);
    }

    /** Ordered farthest first, and by ordinal descending among equals. */
    private record Found(int ordinal, float distance) implements Comparable<Found> {
        @Override
        public int compareTo(Found other) {
            int byDistance = Float.compare(other.distance, distance);
            return byDistance != 0 ? byDistance : Integer.compare(other.ordinal, ordinal);
        }
    }
}
