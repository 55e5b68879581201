package io.github.roost.index.hnsw.walk;

/** A finished graph, whatever it is built with, as an image is made of it. Nodes are numbered from 0. Read by one thread. */
public interface GraphLinks {
    /** Layers above layer 0. */
    int levels();

    /** Where walks begin: a node of the top layer. */
    int entry();

    /** The nodes of a layer above layer 0. */
    int[] nodes(int level);

    /**
     * Copies the neighbours of a node in a layer, nearest first, to an array.
     *
     * @param into with room for all of them
     * @return how many there are
     */
    int neighbors(int level, int node, int[] into);
}
