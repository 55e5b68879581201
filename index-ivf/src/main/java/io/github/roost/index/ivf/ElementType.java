package io.github.roost.index.ivf;

/** What a list keeps of each component for its scans. */
public enum ElementType {
    /** The component itself: 4 bytes. Scans are exact. */
    FLOAT32,
    /**
     * One of 256 steps between the least and the greatest value of its dimension: 1 byte (scalar quantisation, SQ8 in
     * FAISS). Scans choose candidates, of which the best are compared again.
     */
    INT8
}
