package io.github.roost.core;

/** How far two vectors are from each other. Smaller is nearer for all of them. */
public enum Metric {
    // Saved tables hold ordinals: the order stays, and what is new goes to the end.

    /** Sum of squared differences. */
    SQUARED_L2,
    /** The negated inner product, so that the largest product is the smallest distance. */
    INNER_PRODUCT,
    /** One minus the cosine of the angle between the vectors, from 0 to 2. A zero vector has no angle and is refused. */
    COSINE
}
