package io.github.roost.lucene;

import io.github.roost.index.hnsw.graph.BuiltGraph;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.hnsw.HnswGraph;
import org.apache.lucene.util.hnsw.HnswGraph.NodesIterator;

/**
 * Adapter from Lucene's graphs, on the heap or in a segment. Used by one thread. Methods throw {@link UncheckedIOException} if the
 * graph cannot be read.
 *
 * @param betweenNodes runs before the neighbors of each node are read
 */
record BuiltByLucene(HnswGraph graph, Runnable betweenNodes) implements BuiltGraph {
    BuiltByLucene(HnswGraph graph) {
        this(graph, () -> {});
    }

    /** Max neighbors of a node in layer 0. */
    int degree() {
        return 2 * graph.maxConn();
    }

    @Override
    public int levels() {
        try {
            return graph.numLevels() - 1;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public int entry() {
        try {
            return graph.entryNode();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public int[] rows(int level) {
        try {
            NodesIterator nodes = graph.getNodesOnLevel(level);
            int[] all = new int[nodes.size()];
            for (int i = 0; i < all.length; i++) {
                all[i] = nodes.nextInt();
            }
            return all;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Skips duplicates, which Lucene's builder can leave in a list. */
    @Override
    public int neighbors(int level, int row, int[] into) {
        betweenNodes.run();
        try {
            graph.seek(level, row);
            int count = 0;
            for (int neighbor = graph.nextNeighbor();
                    neighbor != DocIdSetIterator.NO_MORE_DOCS && count < into.length;
                    neighbor = graph.nextNeighbor()) {
                if (!contains(into, count, neighbor)) {
                    into[count++] = neighbor;
                }
            }
            return count;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
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
