package io.github.roost.index.hnsw.walk;

import java.util.Arrays;

/**
 * What number each node of a graph gets in an image: those of upper layers first, from the top down, then the others as a
 * breadth-first walk meets them, so that neighbours lie near each other. Immutable once made.
 */
public final class GraphNumbering {
    /** The graph's number of each node of the image. */
    private final int[] oldNumber;
    /** The image's number of each node of the graph, -1 while it has none. */
    private final int[] newNumber;

    private final int[] levelCounts;
    private int numbered;

    /**
     * @param nodes how many nodes there are
     * @param degree most neighbours of a node in layer 0
     * @param betweenNodes runs with each
     */
    public GraphNumbering(GraphLinks links, int nodes, int degree, Runnable betweenNodes) {
        this.oldNumber = new int[nodes];
        this.newNumber = new int[nodes];
        this.levelCounts = new int[links.levels()];
        Arrays.fill(newNumber, -1);
        number(links.entry());
        for (int level = levelCounts.length; level > 0; level--) {
            for (int node : links.nodes(level)) {
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

    /** Numbered nodes are the walk's queue. A node that no other leads to is numbered last. */
    private void numberBreadthFirst(GraphLinks links, int[] neighbors, Runnable betweenNodes) {
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

    /** Nodes of each upper layer, layer 1 first. */
    public int[] levelCounts() {
        return levelCounts.clone();
    }

    /** The graph's number of a node of the image. */
    public int inGraph(int node) {
        return oldNumber[node];
    }

    /** Writes the neighbours that a node of the image has in the graph, in all its layers; the nearest where there are more
     * than fit.
     *
     * @param room where neighbours are put together, for the most that a node has
     */
    public void writeNeighbors(GraphImage image, GraphLinks links, int node, int[] room) {
        writeNeighbors(image, links, 0, node, room);
        for (int level = 1; level <= levelCounts.length && node < levelCounts[level - 1]; level++) {
            writeNeighbors(image, links, level, node, room);
        }
    }

    private void writeNeighbors(GraphImage image, GraphLinks links, int level, int node, int[] room) {
        int count = links.neighbors(level, oldNumber[node], room);
        for (int i = 0; i < count; i++) {
            room[i] = newNumber[room[i]];
        }
        image.setNeighbors(level, node, room, Math.min(count, image.degree(level)));
    }
}
