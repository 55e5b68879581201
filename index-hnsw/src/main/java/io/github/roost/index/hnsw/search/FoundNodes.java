package io.github.roost.index.hnsw.search;

/** The nodes that a search has found, nearest first. */
public interface FoundNodes {
    /** Number of found nodes. */
    int size();

    /** The node at rank {@code i}, from 0. */
    int node(int i);

    /** The distance of the node at rank {@code i}, in the scale of the image; under inner product the negated product. */
    float distance(int i);
}
