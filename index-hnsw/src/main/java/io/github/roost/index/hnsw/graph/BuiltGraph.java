package io.github.roost.index.hnsw.graph;

/**
 * A finished HNSW graph (Malkov and Yashunin, IEEE TPAMI 42(4), 2020) over rows numbered from 0, built by any builder. Read by
 * one thread.
 */
public interface BuiltGraph {
    /**
     * The number of layers above layer 0. Layer 0 has all rows.
     *
     * @return from 0 to 64
     */
    int levels();

    /**
     * The entry point of searches.
     *
     * @return a row of the top layer
     */
    int entry();

    /**
     * The rows of a layer.
     *
     * @param level from 1 to {@link #levels()}
     * @return at least one row, in any order
     */
    int[] rows(int level);

    /**
     * Copies the neighbors of a row in a layer, nearest first.
     *
     * @param level from 0 to {@link #levels()}
     * @param row a row of the layer
     * @param into the destination, with room for the degree that the graph is written with
     * @return the number of neighbors
     */
    int neighbors(int level, int row, int[] into);
}
