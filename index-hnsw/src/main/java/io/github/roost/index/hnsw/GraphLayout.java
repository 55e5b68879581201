package io.github.roost.index.hnsw;

/** The form in which a graph stores vectors for searches to read. The distances in results are exact in every layout. */
public enum GraphLayout {
    /** The vector: 4 bytes per component. */
    FLOAT32,
    /**
     * SQ8 codes, one byte per component, and the vectors in a separate array: 5 bytes per component in all. A search computes
     * distances from codes, then reranks its best candidates by their vectors.
     */
    INT8,
    /**
     * The vector, and one bit per component for each of its neighbors (RaBitQ codes; Gao and Long, SIGMOD 2024), scored
     * together as in SymphonyQG (Gou et al., SIGMOD 2025): a search reads only the records of nodes that it expands. With m = 16,
     * so 32 neighbors, it takes 8 bytes per component plus 384 bytes per row. Slower than {@link #FLOAT32} if the table fits in
     * the cache.
     */
    NEIGHBOR_CODES;

    /**
     * The layout of a table and the reason for it.
     *
     * @param layout the layout
     * @param reason the reason, as text for people
     */
    public record Choice(GraphLayout layout, String reason) {}
}
