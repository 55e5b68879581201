package io.github.roost.index.disk.format;

import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;

/**
 * The space of graphs and codes, in which nearness is squared distance: for cosine, vectors are normalized to length one. Stateless.
 */
public final class Space {
    private Space() {}

    /** A copy of a checked vector of a table or a query, in this space. */
    public static float[] of(Metric metric, float[] vector) {
        return metric == Metric.COSINE ? Vectors.normalized(vector) : vector.clone();
    }

    /** The metric's distance for a squared distance: between vectors of length one, this is twice one minus the cosine. */
    public static float reported(Metric metric, float squared) {
        return metric == Metric.COSINE ? squared / 2 : squared;
    }
}
