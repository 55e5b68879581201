package io.github.roost.documents;

import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;

/** Distances between two vectors, as tables compute them up to rounding. Stateless. */
final class Distances {
    private Distances() {}

    static float of(Metric metric, float[] a, float[] b) {
        return metric == Metric.COSINE
                ? ofRow(metric, Vectors.normalized(a), Vectors.normalized(b))
                : ofRow(metric, a, b);
    }

    /** Of vectors as a table has its rows: for the cosine, of length 1. */
    static float ofRow(Metric metric, float[] a, float[] b) {
        return switch (metric) {
            case SQUARED_L2 -> Vectors.squaredDistance(a, b);
            case INNER_PRODUCT -> -product(a, b);
            case COSINE -> 1 - Vectors.product(a, b);
        };
    }

    /** Tables scale their rows, so that products beyond a float's range may cancel each other. */
    private static float product(float[] a, float[] b) {
        float product = Vectors.product(a, b);
        if (Float.isFinite(product)) {
            return product;
        }
        double exact = 0;
        for (int i = 0; i < a.length; i++) {
            exact += (double) a[i] * b[i];
        }
        return (float) exact;
    }
}
