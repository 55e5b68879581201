package io.github.roost.index.hnsw;

/** What the records of a table's graph have for searches to read. Distances that a search gives are exact in each. */
public enum GraphLayout {
    /** The vector: 4 bytes per component. */
    FLOAT32,
    /**
     * A byte per component (scalar quantisation, SQ8), and the vectors apart, 5 bytes per component in all: a search walks by
     * the codes and compares its best candidates by the vectors.
     */
    INT8,
    /**
     * The vector, and one bit per component of each of its neighbours beside it (RaBitQ codes; Gao and Long, SIGMOD 2024), scored
     * together as in SymphonyQG (Gou et al., SIGMOD 2025): a search goes only to the nodes that it expands. With the 32
     * neighbours of an m of 16 that is 8 bytes per component, and 384 per row. Slower than {@link #FLOAT32} where the table is in
     * the cache.
     */
    NEIGHBOR_CODES
}
