package io.github.roost.vector;

/**
 * The type in which a table stores the components that searches read. A table may also keep the floats, to compute exact distances of the
 * best candidates.
 */
public enum ElementType {
    // Saved tables hold ordinals: do not reorder, add new types at the end.

    /** IEEE 754 binary32, the component itself: 4 bytes. */
    FLOAT32,
    /**
     * IEEE 754 binary16 with 11 significant bits: 2 bytes. Components must be within 65,504 of 0. If most of the rows that a table is built
     * from are far smaller, it stores them enlarged: components of later rows must be within a lower bound, which the refusal names.
     */
    FLOAT16,
    /** SQ8 code (scalar quantization): one of 256 even steps between the smallest and the largest value of the dimension, 1 byte. */
    INT8
}
