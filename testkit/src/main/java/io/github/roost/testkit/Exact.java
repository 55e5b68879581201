package io.github.roost.testkit;

import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Exact search, as plainly as can be: the oracle of the tests. */
public final class Exact {
    private Exact() {}

    /** The nearest of the rows. */
    public static SearchResult exact(float[][] rows, float[] query, int k, Metric metric) {
        return exact(rows, query, k, metric, row -> true);
    }

    /** The nearest of the rows whose ordinal is allowed. */
    public static SearchResult exact(float[][] rows, float[] query, int k, Metric metric, LongPredicate allowed) {
        long[] ids = LongStream.range(0, rows.length).filter(allowed).toArray();
        float[] distances = new float[ids.length];
        for (int i = 0; i < ids.length; i++) {
            distances[i] = distance(rows[(int) ids[i]], query, metric);
        }
        return SearchResult.merge(List.of(SearchResult.sorted(ids, distances)), k);
    }

    /** The nearest of the rows, by their ids. */
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

    /** Summed in doubles. */
    public static float distance(float[] a, float[] b, Metric metric) {
        double squares = 0;
        double dot = 0;
        double aa = 0;
        double bb = 0;
        for (int i = 0; i < a.length; i++) {
            squares += (a[i] - (double) b[i]) * (a[i] - (double) b[i]);
            dot += a[i] * (double) b[i];
            aa += a[i] * (double) a[i];
            bb += b[i] * (double) b[i];
        }
        return (float)
                switch (metric) {
                    case SQUARED_L2 -> squares;
                    case INNER_PRODUCT -> -dot;
                    case COSINE -> 1 - dot / Math.sqrt(aa * bb);
                };
    }

    /** How many of the true ids were found. */
    public static int hits(SearchResult truth, SearchResult found) {
        Set<Long> ids = Arrays.stream(truth.ids()).boxed().collect(Collectors.toSet());
        return (int) Arrays.stream(found.ids()).filter(ids::contains).count();
    }
}
