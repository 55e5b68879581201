package io.github.roost.index.hnsw;

import io.github.jbellis.jvector.graph.NodesIterator;
import io.github.jbellis.jvector.graph.OnHeapGraphIndex;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.ElementType;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.GraphLinks;
import io.github.roost.index.hnsw.walk.GraphNumbering;
import java.util.Objects;

/**
 * Copies a finished graph into off-heap memory, its nodes numbered anew. Used once; all steps are batch work on the workers
 * of an orchestrator, which publish what one step writes to the next.
 */
final class GraphFreezer {
    /** Nodes written before a worker turns to other batch work. */
    private static final int RUN = 64;

    private final BuildWork work;
    private final GraphLinks links;
    private final DistinctRows rows;
    /** The first row of each node of the image; after the last node how many rows there are. */
    private final int[] firstRow;

    GraphFreezer(BuildWork work, OnHeapGraphIndex graph, DistinctRows rows) {
        this.work = work;
        this.links = new Links(graph);
        this.rows = rows;
        this.firstRow = new int[rows.nodes() + 1];
    }

    GraphImage freeze(GraphSpace space, GraphOptions options) {
        GraphNumbering numbering = work.once(() -> number(2 * options.m()));
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
                numbering.levelCounts()));
        work.forEach(rows.nodes(), RUN, node -> write(image, numbering, node));
        image.setFirstRow(rows.nodes(), rows.rows());
        return work.once(() -> image.encode(work::giveWay));
    }

    private GraphNumbering number(int degree) {
        GraphNumbering numbering = new GraphNumbering(links, rows.nodes(), degree, work::giveWay);
        for (int node = 0; node < rows.nodes(); node++) {
            work.giveWay();
            firstRow[node + 1] = firstRow[node] + rows.ids(numbering.inGraph(node)).length;
        }
        return numbering;
    }

    private void write(GraphImage image, GraphNumbering numbering, int node) {
        int inGraph = numbering.inGraph(node);
        image.setVector(node, rows.vectors()[inGraph]);
        image.setFirstRow(node, firstRow[node]);
        long[] ids = rows.ids(inGraph);
        for (int i = 0; i < ids.length; i++) {
            image.setId(firstRow[node] + i, ids[i]);
        }
        numbering.writeNeighbors(image, links, node, new int[image.degree(0)]);
    }

    /** The graph that jvector has built, whose neighbour lists have been brought back to their length. */
    private record Links(OnHeapGraphIndex graph) implements GraphLinks {
        @Override
        public int levels() {
            return graph.getMaxLevel();
        }

        @Override
        public int entry() {
            return Objects.requireNonNull(graph.entryNode(), "a graph that was built has an entry node").node;
        }

        @Override
        public int[] nodes(int level) {
            NodesIterator nodes = graph.getNodes(level);
            int[] all = new int[nodes.size()];
            for (int i = 0; i < all.length; i++) {
                all[i] = nodes.nextInt();
            }
            return all;
        }

        @Override
        public int neighbors(int level, int node, int[] into) {
            NodesIterator neighbors = graph.getNeighborsIterator(level, node);
            int count = neighbors.size();
            for (int i = 0; i < count; i++) {
                into[i] = neighbors.nextInt();
            }
            return count;
        }
    }
}
