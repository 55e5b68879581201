package io.github.roost.index.ivf;

/** What a list keeps of each component for its scans. */
public enum ElementType {
    // Saved tables hold ordinals: the order stays, and what is new goes to the end.

    /** The component itself: 4 bytes, and one more for scans ({@link IvfTable.Builder#codes}). Answers are exact. */
    FLOAT32,
    /** The nearest IEEE half, of 11 bits: 2 bytes. Scans are exact to these. Components must be within 65,504 of 0. */
    FLOAT16,
    /**
     * One of 256 steps between the least and the greatest value of its dimension: 1 byte (scalar quantisation, SQ8 in
     * FAISS). Scans choose candidates, of which the best are compared again.
     */
    INT8
}
