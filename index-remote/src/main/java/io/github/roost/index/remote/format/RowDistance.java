package io.github.roost.index.remote.format;

import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;

/** Distance of a query and a log's row, as graphs compute it. Stateless. */
public final class RowDistance {
    private RowDistance() {}

    /** Both vectors must be {@linkplain #inSpace in space}. */
    static float of(Metric metric, float[] query, float[] row) {
        return switch (metric) {
            case SQUARED_L2 -> Vectors.squaredDistance(query, row);
            case INNER_PRODUCT -> -Vectors.product(query, row);
            case COSINE -> 1 - Vectors.product(query, row);
        };
    }

    /** A row or query in the space of the centroids: normalized for cosine. */
    public static float[] inSpace(Metric metric, float[] vector) {
        return metric == Metric.COSINE ? Vectors.normalized(vector) : vector;
    }
}
