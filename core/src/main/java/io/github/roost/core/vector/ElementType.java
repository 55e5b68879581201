package io.github.roost.core.vector;

/**
 * What a table stores of each component for its searches to read. A table may keep the floats as well, to compute exact
 * distances of the best candidates.
 */
public enum ElementType {
    // Saved tables hold ordinals: the order stays, and new types go to the end.

    /** The component itself: 4 bytes. */
    FLOAT32,
    /** IEEE 754 binary16 with 11 significant bits: 2 bytes. Components must be within 65,504 of 0. */
    FLOAT16,
    /** One of 256 steps between the smallest and the largest value of its dimension: 1 byte (scalar quantisation, SQ8). */
    INT8
}
