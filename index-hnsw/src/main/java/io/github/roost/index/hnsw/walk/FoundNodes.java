package io.github.roost.index.hnsw.walk;

/** The nodes that a search has found, the nearest first. */
public interface FoundNodes {
    /** How many there are. */
    int size();

    /** A found node, the nearest at 0. */
    int node(int i);

    /** Its distance, for inner product its negated inner product; in the scale of the image. */
    float distance(int i);
}
