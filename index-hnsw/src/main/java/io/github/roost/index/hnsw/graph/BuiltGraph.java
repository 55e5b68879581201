package io.github.roost.index.hnsw.graph;

/**
 * A finished HNSW graph (Malkov and Yashunin, 2016) over rows that are numbered from 0, whatever it was built with. Read by
 * one thread.
 */
public interface BuiltGraph {
    /**
     * How many layers there are above layer 0, which has all rows.
     *
     * @return 0 to 64
     */
    int levels();

    /**
     * Where searches begin.
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
     * Copies the neighbours of a row in a layer, the nearest first.
     *
     * @param level from 0 to {@link #levels()}
     * @param row one of the layer
     * @param into what they are copied to, with room for as many as the graph was said to have at most
     * @return how many there are
     */
    int neighbors(int level, int row, int[] into);
}
