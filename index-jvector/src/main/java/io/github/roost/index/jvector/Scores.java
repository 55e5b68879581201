package io.github.roost.index.jvector;

import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.roost.vector.Metric;

/** The scores of jvector, the greater the nearer, as distances, the smaller the nearer. */
final class Scores {
    private Scores() {}

    /** The similarity function whose scores order rows as a metric does. */
    static VectorSimilarityFunction function(Metric metric) {
        return switch (metric) {
            case SQUARED_L2 -> VectorSimilarityFunction.EUCLIDEAN;
            case INNER_PRODUCT -> VectorSimilarityFunction.DOT_PRODUCT;
            case COSINE -> VectorSimilarityFunction.COSINE;
        };
    }

    /** Inverts the formula of a score: 1 / (1 + d) for squared L2, (1 + p) / 2 for an inner product or cosine p. */
    static float distance(Metric metric, float score) {
        return (float)
                switch (metric) {
                    case SQUARED_L2 -> 1 / (double) score - 1;
                    case INNER_PRODUCT -> 1 - 2 * (double) score;
                    case COSINE -> 2 - 2 * (double) score;
                };
    }
}
