package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.spi.BuildWork;

/**
 * Copies a finished graph into an off-heap image and renumbers its nodes. Used once. All steps are batch work on the workers
 * of an orchestrator, which make the writes of one step visible to the next.
 */
final class ImageWriter {
    /** Nodes written per step of batch work. */
    private static final int RUN = 64;

    private final BuildWork work;
    private final BuiltGraph links;
    private final DistinctRows rows;
    private final NodeVectors vectors;
    /** The first row of each node of the image; the last element is the number of rows. */
    private final int[] firstRow;

    /** The vectors of a graph's nodes. */
    @FunctionalInterface
    interface NodeVectors {
        /** Copies a node's vector to the beginning of an array; called by several workers at once. */
        void read(int node, float[] into);
    }

    ImageWriter(BuildWork work, BuiltGraph links, DistinctRows rows, NodeVectors vectors) {
        this.work = work;
        this.links = links;
        this.rows = rows;
        this.vectors = vectors;
        this.firstRow = new int[rows.nodes() + 1];
    }

    GraphImage write(GraphSpace space, int dimension, GraphOptions options) {
        GraphNumbering numbering = work.once(() -> number(2 * options.m()));
        GraphImage image = GraphImage.allocate(new GraphImage.Shape(
                space.metric(),
                options.elementType() == ElementType.INT8,
                dimension,
                2 * options.m(),
                options.m(),
                rows.nodes(),
                rows.rows(),
                space.exponent(),
                space.largest(),
                numbering.levelCounts()));
        work.run(rows.nodes(), RUN, (from, to) -> {
            float[] vector = new float[dimension];
            int[] neighbors = new int[image.degree(0)];
            for (int node = from; node < to; node++) {
                work.yieldToSearches();
                write(image, numbering, node, vector, neighbors);
            }
        });
        image.setFirstRow(rows.nodes(), rows.rows());
        return work.once(() -> image.encode(work::yieldToSearches));
    }

    private GraphNumbering number(int degree) {
        GraphNumbering numbering = new GraphNumbering(links, rows.nodes(), degree, work::yieldToSearches);
        for (int node = 0; node < rows.nodes(); node++) {
            work.yieldToSearches();
            firstRow[node + 1] = firstRow[node] + rows.count(numbering.inGraph(node));
        }
        return numbering;
    }

    private void write(GraphImage image, GraphNumbering numbering, int node, float[] vector, int[] neighbors) {
        int inGraph = numbering.inGraph(node);
        vectors.read(inGraph, vector);
        image.setVector(node, vector);
        image.setFirstRow(node, firstRow[node]);
        long[] ids = rows.ids(inGraph);
        for (int i = 0; i < ids.length; i++) {
            image.setId(firstRow[node] + i, ids[i]);
        }
        numbering.writeNeighbors(image, links, node, neighbors);
    }
}
