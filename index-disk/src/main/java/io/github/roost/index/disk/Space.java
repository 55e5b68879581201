package io.github.roost.index.disk;

import io.github.roost.core.Metric;

/**
 * The space in which graphs and codes are made, where near is near by squared distance: for cosine, of vectors of length one. Stateless.
 */
final class Space {
    private Space() {}

    /** A vector of a table or a query, checked before, in this space. */
    static float[] of(Metric metric, float[] vector) {
        float[] copy = vector.clone();
        if (metric == Metric.COSINE) {
            double squares = 0;
            for (float component : vector) {
                squares += (double) component * component;
            }
            double norm = Math.sqrt(squares);
            for (int i = 0; i < copy.length; i++) {
                copy[i] = (float) (vector[i] / norm);
            }
        }
        return copy;
    }

    /** The distance of the metric for a squared distance: of vectors of length one it is twice one minus the cosine. */
    static float reported(Metric metric, float squared) {
        return metric == Metric.COSINE ? squared / 2 : squared;
    }
}
