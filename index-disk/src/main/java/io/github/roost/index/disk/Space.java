package io.github.roost.index.disk;

import io.github.roost.core.Metric;

/**
 * The space of graphs and codes, in which nearness is squared distance: for cosine, vectors are normalised to length one. Stateless.
 */
final class Space {
    private Space() {}

    /** A checked vector of a table or a query, in this space. */
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

    /** The metric's distance for a squared distance: between vectors of length one, this is twice one minus the cosine. */
    static float reported(Metric metric, float squared) {
        return metric == Metric.COSINE ? squared / 2 : squared;
    }
}
