package io.github.roost.testkit;

import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Brute-force search, with distances summed in doubles: the oracle of the tests, and the ground truth for recall. It shares no code with the
 * indexes. Immutable and thread-safe, as long as the vectors do not change.
 */
public final class ExactSearch {
    private final float[][] base;
    private final Metric metric;

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
     * @param metric the metric of the distances
     */
    public ExactSearch(float[][] base, Metric metric) {
        if (base.length == 0) {
            throw new IllegalArgumentException("the base must have at least one vector, got none");
        }
        this.base = base;
        this.metric = metric;
    }

    /**
     * Finds the k nearest vectors of the base; ties by ordinal.
     *
     * @param query of the base's width
     * @param k from 1 to the size of the base
     */
    public SearchResult search(float[] query, int k) {
        Vectors.requireRange("k", k, 1, base.length);
        return exact(base, query, k, metric);
    }

    /** Finds the k nearest vectors of each query, on all CPUs. */
    public SearchResult[] searchAll(float[][] queries, int k) {
        return IntStream.range(0, queries.length)
                .parallel()
                .mapToObj(i -> search(queries[i], k))
                .toArray(SearchResult[]::new);
    }

    /** The at most k nearest of the rows. */
    public static SearchResult exact(float[][] rows, float[] query, int k, Metric metric) {
        return exact(rows, query, k, metric, row -> true);
    }

    /** The at most k nearest of the rows whose ordinal is allowed. */
    public static SearchResult exact(float[][] rows, float[] query, int k, Metric metric, LongPredicate allowed) {
        PriorityQueue<Found> nearest = new PriorityQueue<>(k + 1);
        for (int ordinal = 0; ordinal < rows.length; ordinal++) {
            if (!allowed.test(ordinal)) {
                continue;
            }
            float distance = distance(rows[ordinal], query, metric);
            if (nearest.size() < k) {
                nearest.add(new Found(ordinal, distance));
            } else if (distance < nearest.element().distance) {
                nearest.remove();
                nearest.add(new Found(ordinal, distance));
            }
        }
        return sorted(nearest);
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

    /** The at most k nearest of the rows, by their ids. */
    public static SearchResult exact(Map<Long, float[]> rows, float[] query, int k, Metric metric) {
        long[] ids = new long[rows.size()];
        float[] distances = new float[ids.length];
        int i = 0;
        for (Map.Entry<Long, float[]> row : rows.entrySet()) {
            ids[i] = row.getKey();
            distances[i++] = distance(row.getValue(), query, metric);
        }
        return SearchResult.merge(List.of(SearchResult.sorted(ids, distances)), k);
    }

    /** The distance of two vectors of one width. */
    public static float distance(float[] a, float[] b, Metric metric) {
        return (float)
                switch (metric) {
                    case SQUARED_L2 -> squaredDistance(a, b);
                    case INNER_PRODUCT -> -product(a, b);
                    case COSINE -> 1 - product(a, b) / Math.sqrt(product(a, a) * product(b, b));
                };
    }

    private static double squaredDistance(float[] a, float[] b) {
        // Two sums, which do not wait for each other: the ground truth of a benchmark takes minutes.
        double even = 0;
        double odd = 0;
        for (int i = 0; i + 1 < a.length; i += 2) {
            double difference = a[i] - (double) b[i];
            double next = a[i + 1] - (double) b[i + 1];
            even += difference * difference;
            odd += next * next;
        }
        if (a.length % 2 == 1) {
            double last = a[a.length - 1] - (double) b[a.length - 1];
            even += last * last;
        }
        return even + odd;
    }

    private static double product(float[] a, float[] b) {
        double even = 0;
        double odd = 0;
        for (int i = 0; i + 1 < a.length; i += 2) {
            even += a[i] * (double) b[i];
            odd += a[i + 1] * (double) b[i + 1];
        }
        if (a.length % 2 == 1) {
            even += a[a.length - 1] * (double) b[a.length - 1];
        }
        return even + odd;
    }

    /** How many of the true ids were found. */
    public static int hits(SearchResult truth, SearchResult found) {
        Set<Long> ids = Arrays.stream(truth.ids()).boxed().collect(Collectors.toSet());
        return (int) Arrays.stream(found.ids()).filter(ids::contains).count();
    }
}
