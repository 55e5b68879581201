package io.github.roost.index.hnsw;

import io.github.jbellis.jvector.graph.NodesIterator;
import io.github.jbellis.jvector.graph.OnHeapGraphIndex;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.ElementType;
import io.github.roost.index.hnsw.walk.GraphImage;
import java.util.Arrays;
import java.util.Objects;

/**
 * Copies a finished graph into off-heap memory. Nodes are numbered anew: those of upper layers first, from the top down,
 * then the others as a breadth-first walk meets them, so that neighbours lie near each other. Used once; all steps are
 * batch work on the workers of an orchestrator, which publish what one step writes to the next.
 */
final class GraphFreezer {
    /** Nodes written before a worker turns to other batch work. */
    private static final int RUN = 64;

    private final BuildWork work;
    private final OnHeapGraphIndex graph;
    private final DistinctRows rows;
    /** The graph's number of each node of the image. */
    private final int[] oldNumber;
    /** The image's number of each node of the graph, -1 while it has none. */
    private final int[] newNumber;
    /** The first row of each node of the image; after the last node how many rows there are. */
    private final int[] firstRow;

    private int numbered;

    GraphFreezer(BuildWork work, OnHeapGraphIndex graph, DistinctRows rows) {
        this.work = work;
        this.graph = graph;
        this.rows = rows;
        this.oldNumber = new int[rows.nodes()];
        this.newNumber = new int[rows.nodes()];
        this.firstRow = new int[rows.nodes() + 1];
        Arrays.fill(newNumber, -1);
    }

    GraphImage freeze(GraphSpace space, GraphOptions options) {
        int[] levelCounts = work.once(this::number);
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
        work.forEach(rows.nodes(), RUN, node -> write(image, node));
        image.setFirstRow(rows.nodes(), rows.rows());
        return work.once(() -> image.encode(work::giveWay));
    }

    /** Numbers all nodes; returns how many there are in each upper layer, layer 1 first. */
    private int[] number() {
        int[] levelCounts = new int[graph.getMaxLevel()];
        number(Objects.requireNonNull(graph.entryNode(), "a graph that was built has an entry node").node);
        for (int level = levelCounts.length; level > 0; level--) {
            for (NodesIterator nodes = graph.getNodes(level); nodes.hasNext(); ) {
                work.giveWay();
                number(nodes.nextInt());
            }
            levelCounts[level - 1] = numbered;
        }
        numberBreadthFirst();
        for (int node = 0; node < oldNumber.length; node++) {
            work.giveWay();
            firstRow[node + 1] = firstRow[node] + rows.ids(oldNumber[node]).length;
        }
        return levelCounts;
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
            work.giveWay();
            for (NodesIterator neighbors = graph.getNeighborsIterator(0, oldNumber[next]); neighbors.hasNext(); ) {
                number(neighbors.nextInt());
            }
        }
        for (int node = 0; node < oldNumber.length; node++) {
            number(node);
        }
    }

    private void write(GraphImage image, int node) {
        int[] levelCounts = image.shape().levelCounts();
        image.setVector(node, rows.vectors()[oldNumber[node]]);
        image.setFirstRow(node, firstRow[node]);
        long[] ids = rows.ids(oldNumber[node]);
        for (int i = 0; i < ids.length; i++) {
            image.setId(firstRow[node] + i, ids[i]);
        }
        writeNeighbors(image, 0, node);
        for (int level = 1; level <= levelCounts.length && node < levelCounts[level - 1]; level++) {
            writeNeighbors(image, level, node);
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
