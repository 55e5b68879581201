package io.github.roost.index.remote;

import io.github.roost.core.Metric;
import io.github.roost.core.Vectors;

/** How far a row of a log is from a query, as graphs measure it. Stateless. */
final class RowDistance {
    private RowDistance() {}

    /** Both {@linkplain Partitioner#inSpace in space}. */
    static float of(Metric metric, float[] query, float[] row) {
        return switch (metric) {
            case SQUARED_L2 -> Vectors.squaredDistance(query, row);
            case INNER_PRODUCT -> -Vectors.product(query, row);
            case COSINE -> 1 - Vectors.product(query, row);
        };
    }
}
