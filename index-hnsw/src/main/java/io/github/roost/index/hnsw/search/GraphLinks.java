package io.github.roost.index.hnsw.search;

/** A finished graph of any builder, the input of an image. Nodes are numbered from 0. Read by one thread. */
public interface GraphLinks {
    /** Layers above layer 0. */
    int levels();

    /** The entry point, a node of the top layer. */
    int entry();

    /** The nodes of a layer above layer 0. */
    int[] nodes(int level);

    /**
     * Copies the neighbors of a node in a layer, nearest first, to an array.
     *
     * @param into an array with room for all of them
     * @return the number of neighbors
     */
    int neighbors(int level, int node, int[] into);
}
