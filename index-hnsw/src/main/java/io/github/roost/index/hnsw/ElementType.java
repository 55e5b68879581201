package io.github.roost.index.hnsw;

/** What a table keeps of each component for its walks. */
public enum ElementType {
    // Saved tables hold ordinals: the order stays, and what is new goes to the end.

    /** The component itself: 4 bytes. */
    FLOAT32,
    /**
     * One of 256 steps between the least and the greatest value of its dimension: 1 byte (scalar quantisation). A walk
     * reads a quarter of the memory; the best of what it finds are compared again by the components themselves, which the
     * table keeps beside: 5 bytes in all. Distances are exact.
     */
    INT8
}
