package io.github.roost.lucene;

import io.github.roost.index.hnsw.graph.BuiltGraph;
import org.apache.lucene.util.hnsw.HnswGraph.NodesIterator;
import org.apache.lucene.util.hnsw.NeighborArray;
import org.apache.lucene.util.hnsw.OnHeapHnswGraph;

/** A graph as Lucene's builders leave it. */
record BuiltByLucene(OnHeapHnswGraph graph) implements BuiltGraph {
    /** Most neighbours of a node in layer 0. */
    int degree() {
        return 2 * graph.maxConn();
    }

    @Override
    public int levels() {
        return graph.numLevels() - 1;
    }

    @Override
    public int entry() {
        return graph.entryNode();
    }

    @Override
    public int[] rows(int level) {
        NodesIterator nodes = graph.getNodesOnLevel(level);
        int[] all = new int[nodes.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = nodes.nextInt();
        }
        return all;
    }

    /** Without those that the builder has entered twice. */
    @Override
    public int neighbors(int level, int row, int[] into) {
        NeighborArray neighbors = graph.getNeighbors(level, row);
        int count = 0;
        for (int i = 0; i < neighbors.size(); i++) {
            int neighbor = neighbors.nodes()[i];
            if (!contains(into, count, neighbor)) {
                into[count++] = neighbor;
            }
        }
        return count;
    }

    private static boolean contains(int[] nodes, int count, int node) {
        for (int i = 0; i < count; i++) {
            if (nodes[i] == node) {
                return true;
            }
        }
        return false;
    }
}
