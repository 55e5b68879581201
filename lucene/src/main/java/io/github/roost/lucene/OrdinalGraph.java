package io.github.roost.lucene;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.vector.FileFormatException;
import java.util.Arrays;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.hnsw.HnswGraph;

/** Adapter that lets Lucene's merges read a graph, with nodes numbered by ordinal. Used by one thread. */
final class OrdinalGraph extends HnswGraph {
    private final Graph graph;
    private final int[] ordinals;
    /** The graph's node number of each ordinal. */
    private final int[] nodes;

    private int[] neighbors = new int[0];
    private int count;
    private int next;

    private OrdinalGraph(Graph graph, int[] ordinals, int[] nodes) {
        this.graph = graph;
        this.ordinals = ordinals;
        this.nodes = nodes;
    }

    static OrdinalGraph of(Graph graph) throws FileFormatException {
        int[] ordinals = new int[graph.nodes()];
        int[] nodes = new int[graph.nodes()];
        for (int node = 0; node < ordinals.length; node++) {
            ordinals[node] = graph.ordinal(node);
            nodes[ordinals[node]] = node;
        }
        return new OrdinalGraph(graph, ordinals, nodes);
    }

    @Override
    public void seek(int level, int target) throws FileFormatException {
        int degree = graph.degree(level);
        neighbors = neighbors.length < degree ? new int[degree] : neighbors;
        next = 0;
        for (count = 0; count < degree; count++) {
            int neighbor = graph.neighbor(level, nodes[target], count);
            if (neighbor < 0) {
                break;
            }
            neighbors[count] = ordinals[neighbor];
        }
    }

    @Override
    public int size() {
        return ordinals.length;
    }

    @Override
    public int nextNeighbor() {
        return next < count ? neighbors[next++] : DocIdSetIterator.NO_MORE_DOCS;
    }

    @Override
    public int neighborCount() {
        return count;
    }

    @Override
    public int numLevels() {
        return graph.levels() + 1;
    }

    @Override
    public int maxConn() {
        return graph.degree(0) / 2;
    }

    @Override
    public int entryNode() {
        return ordinals[0];
    }

    @Override
    public NodesIterator getNodesOnLevel(int level) {
        return level == 0
                ? new DenseNodesIterator(ordinals.length)
                : new ArrayNodesIterator(Arrays.copyOf(ordinals, graph.nodes(level)));
    }
}
