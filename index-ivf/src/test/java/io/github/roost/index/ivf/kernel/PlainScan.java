package io.github.roost.index.ivf.kernel;

import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** A scan written as plainly as can be, with the sums that every kernel promises: the oracle of the tests. */
public final class PlainScan {
    private record Row(long id, float distance) {}

    private PlainScan() {}

    /** The nearest k of the rows, ties by ascending id. */
    public static SearchResult nearest(Metric metric, float[][] rows, long[] ids, float[] query, int k) {
        List<Row> nearest = IntStream.range(0, rows.length)
                .mapToObj(i -> new Row(ids[i], distance(metric, rows[i], query)))
                .sorted(Comparator.comparing(Row::distance).thenComparing(Row::id))
                .limit(k)
                .toList();
        float[] distances = new float[nearest.size()];
        for (int i = 0; i < distances.length; i++) {
            distances[i] = nearest.get(i).distance();
        }
        return new SearchResult(nearest.stream().mapToLong(Row::id).toArray(), distances);
    }

    /** Fused in sixteen lanes, which are folded by halves. */
    public static float distance(Metric metric, float[] row, float[] query) {
        float[] lanes = new float[16];
        for (int d = 0; d < query.length; d++) {
            float difference = query[d] - row[d];
            float left = metric == Metric.SQUARED_L2 ? difference : query[d];
            float right = metric == Metric.SQUARED_L2 ? difference : row[d];
            lanes[d % 16] = Math.fma(left, right, lanes[d % 16]);
        }
        for (int half = 8; half > 0; half /= 2) {
            for (int lane = 0; lane < half; lane++) {
                lanes[lane] += lanes[lane + half];
            }
        }
        return switch (metric) {
            case SQUARED_L2 -> lanes[0];
            case INNER_PRODUCT -> 0 - lanes[0];
            case COSINE -> 1 - lanes[0];
        };
    }
}
