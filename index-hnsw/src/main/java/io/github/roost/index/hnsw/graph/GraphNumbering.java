package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphImage;
import java.util.Arrays;

/**
 * The renumbering of a graph's nodes for an image: nodes of upper layers first, from the top down, then the others in breadth-first
 * order, so that neighbors are near each other in memory. Immutable.
 */
final class GraphNumbering {
    /** The graph's number of each node of the image. */
    private final int[] oldNumber;
    /** The image's number of each node of the graph; -1 if not numbered yet. */
    private final int[] newNumber;

    private final int[] levelCounts;
    private int numbered;

    /**
     * @param nodes number of nodes
     * @param degree max neighbors of a node in layer 0
     * @param betweenNodes runs once per node
     */
    GraphNumbering(BuiltGraph links, int nodes, int degree, Runnable betweenNodes) {
        this.oldNumber = new int[nodes];
        this.newNumber = new int[nodes];
        this.levelCounts = new int[links.levels()];
        Arrays.fill(newNumber, -1);
        number(links.entry());
        for (int level = levelCounts.length; level > 0; level--) {
            for (int node : links.rows(level)) {
                betweenNodes.run();
                number(node);
            }
            levelCounts[level - 1] = numbered;
        }
        numberBreadthFirst(links, new int[degree], betweenNodes);
    }

    private void number(int node) {
        if (newNumber[node] < 0) {
            newNumber[node] = numbered;
            oldNumber[numbered++] = node;
        }
    }

    /** The numbered nodes are the queue of the breadth-first search. Nodes that it does not reach are numbered last. */
    private void numberBreadthFirst(BuiltGraph links, int[] neighbors, Runnable betweenNodes) {
        for (int next = 0; next < numbered; next++) {
            betweenNodes.run();
            int count = links.neighbors(0, oldNumber[next], neighbors);
            for (int i = 0; i < count; i++) {
                number(neighbors[i]);
            }
        }
        for (int node = 0; node < oldNumber.length; node++) {
            number(node);
        }
    }

    /** Number of nodes of each upper layer, layer 1 first. */
    int[] levelCounts() {
        return levelCounts.clone();
    }

    /** The graph's number of a node of the image. */
    int inGraph(int node) {
        return oldNumber[node];
    }

    /**
     * Writes the neighbors of a node of the image in all its layers; only the nearest if the graph has more than fit.
     *
     * @param room scratch space for the max neighbors of a node of the graph
     */
    void writeNeighbors(GraphImage image, BuiltGraph links, int node, int[] room) {
        writeNeighbors(image, links, 0, node, room);
        for (int level = 1; level <= levelCounts.length && node < levelCounts[level - 1]; level++) {
            writeNeighbors(image, links, level, node, room);
        }
    }

    private void writeNeighbors(GraphImage image, BuiltGraph links, int level, int node, int[] room) {
        int count = links.neighbors(level, oldNumber[node], room);
        for (int i = 0; i < count; i++) {
            room[i] = newNumber[room[i]];
        }
        image.setNeighbors(level, node, room, Math.min(count, image.degree(level)));
    }
}
