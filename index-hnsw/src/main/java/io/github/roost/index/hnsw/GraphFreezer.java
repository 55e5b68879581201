package io.github.roost.index.hnsw;

import io.github.jbellis.jvector.graph.NodesIterator;
import io.github.jbellis.jvector.graph.OnHeapGraphIndex;
import io.github.roost.index.hnsw.walk.GraphImage;
import java.util.Arrays;
import java.util.Objects;

/**
 * Copies a finished graph into off-heap memory. Nodes are numbered anew: those of upper layers first, from the top down,
 * then the others as a breadth-first walk meets them, so that neighbours lie near each other. Used once.
 */
final class GraphFreezer {
    private final OnHeapGraphIndex graph;
    private final DistinctRows rows;
    /** The graph's number of each node of the image. */
    private final int[] oldNumber;
    /** The image's number of each node of the graph, -1 while it has none. */
    private final int[] newNumber;

    private int numbered;

    GraphFreezer(OnHeapGraphIndex graph, DistinctRows rows) {
        this.graph = graph;
        this.rows = rows;
        this.oldNumber = new int[rows.nodes()];
        this.newNumber = new int[rows.nodes()];
        Arrays.fill(newNumber, -1);
    }

    GraphImage freeze(GraphSpace space, GraphOptions options) {
        number(Objects.requireNonNull(graph.entryNode(), "a graph that was built has an entry node").node);
        int[] levelCounts = new int[graph.getMaxLevel()];
        for (int level = graph.getMaxLevel(); level > 0; level--) {
            for (NodesIterator nodes = graph.getNodes(level); nodes.hasNext(); ) {
                number(nodes.nextInt());
            }
            levelCounts[level - 1] = numbered;
        }
        numberBreadthFirst();
        GraphImage image = GraphImage.allocate(new GraphImage.Shape(
                space.metric(),
                options.elementType() == ElementType.INT8,
                rows.vectors()[0].length,
                2 * options.m(),
                options.m(),
                rows.nodes(),
                rows.rows(),
                space.exponent(),
                space.largest(),
                levelCounts));
        write(image, levelCounts);
        image.encode();
        return image;
    }

    private void number(int node) {
        if (newNumber[node] < 0) {
            newNumber[node] = numbered;
            oldNumber[numbered++] = node;
        }
    }

    /** Numbered nodes are the walk's queue. A node that no other leads to is numbered last. */
    private void numberBreadthFirst() {
        for (int next = 0; next < numbered; next++) {
            for (NodesIterator neighbors = graph.getNeighborsIterator(0, oldNumber[next]); neighbors.hasNext(); ) {
                number(neighbors.nextInt());
            }
        }
        for (int node = 0; node < oldNumber.length; node++) {
            number(node);
        }
    }

    private void write(GraphImage image, int[] levelCounts) {
        int row = 0;
        for (int node = 0; node < oldNumber.length; node++) {
            image.setVector(node, rows.vectors()[oldNumber[node]]);
            writeNeighbors(image, 0, node);
            image.setFirstRow(node, row);
            for (long id : rows.ids(oldNumber[node])) {
                image.setId(row++, id);
            }
        }
        image.setFirstRow(oldNumber.length, row);
        for (int level = 1; level <= levelCounts.length; level++) {
            for (int node = 0; node < levelCounts[level - 1]; node++) {
                writeNeighbors(image, level, node);
            }
        }
    }

    private void writeNeighbors(GraphImage image, int level, int node) {
        NodesIterator neighbors = graph.getNeighborsIterator(level, oldNumber[node]);
        int[] numbers = new int[neighbors.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = newNumber[neighbors.nextInt()];
        }
        image.setNeighbors(level, node, numbers, numbers.length);
    }
}
