package io.github.roost.index.hnsw.walk;

/**
 * Searches a table's memory. Thread-safe; a scratch belongs to one thread. Every walk sums distances in 16 fused lanes
 * folded by halves and breaks ties by node, so all of them find the same nodes at bit-equal distances.
 */
public interface GraphWalk {
    /** What it runs on: an instruction set's name, or {@code java}. */
    String name();

    /**
     * Walks the graph from the top layer down, in layer 0 with a list of the {@code width} nearest found so far (Malkov
     * and Yashunin, algorithms 2 and 5). What it finds is in the scratch.
     *
     * @param scratch begun for this image
     * @param width from 1
     * @param mostReranked how many of the nearest by code are found in a coded image, in the order of their exact
     *     distances; from 1 to {@code width}. Other images give all
     * @param allowed which nodes may be found; others are walked through all the same
     */
    void walk(GraphImage image, WalkScratch scratch, int width, int mostReranked, NodeSet allowed);

    /**
     * Looks at the vector of every allowed node from {@code from} to {@code to} exclusive.
     *
     * @param scratch begun for this image
     * @param width how many of the nearest to find, from 1
     */
    void scan(GraphImage image, WalkScratch scratch, int width, NodeSet allowed, int from, int to);
}
