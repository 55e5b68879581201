package io.github.roost.vector;

/** How the distance of two vectors is computed. For all metrics, a smaller distance is nearer. */
public enum Metric {
    // Saved tables hold ordinals: do not reorder, add new metrics at the end.

    /** Sum of squared differences. */
    SQUARED_L2,
    /** The negated inner product, so that the largest product is the smallest distance. */
    INNER_PRODUCT,
    /** One minus the cosine of the angle between the vectors, from 0 to 2. Zero vectors have no angle and are refused. */
    COSINE
}
