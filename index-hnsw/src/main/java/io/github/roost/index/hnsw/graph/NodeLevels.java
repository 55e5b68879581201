package io.github.roost.index.hnsw.graph;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * The assignment of nodes to the upper layers of a graph. One node in m of each layer is in the next, the expected number if each
 * node's highest layer were drawn independently (Malkov and Yashunin, section 4.1). Deterministic. Immutable.
 *
 * @param counts number of nodes of each upper layer, layer 1 first
 * @param order the nodes from the top layer down, the order of their insertion
 */
record NodeLevels(int[] counts, int[] order) {
    private static final long SEED = 42;

    /**
     * Draws the nodes of the upper layers at random. The others keep their old order.
     *
     * @param nodes at least 1
     * @param m one node in m of a layer is in the next, from 2
     */
    static NodeLevels random(int nodes, int m) {
        int[] counts = counts(nodes, m);
        int upper = counts.length == 0 ? 0 : counts[0];
        SplittableRandom random = new SplittableRandom(SEED);
        int[] order = IntStream.range(0, nodes).toArray();
        for (int i = 0; i < upper; i++) {
            int other = random.nextInt(i, nodes);
            int node = order[other];
            order[other] = order[i];
            order[i] = node;
        }
        // Consecutive rows are often similar: inserted in that order, they find their neighbors in the cache.
        Arrays.sort(order, upper, nodes);
        return new NodeLevels(counts, order);
    }

    /**
     * Takes the first nodes for the upper layers.
     *
     * @param nodes at least 1
     * @param m one node in m of a layer is in the next, from 2
     */
    static NodeLevels inOrder(int nodes, int m) {
        return new NodeLevels(counts(nodes, m), IntStream.range(0, nodes).toArray());
    }

    private static int[] counts(int nodes, int m) {
        return IntStream.iterate(nodes / m, count -> count > 0, count -> count / m)
                .toArray();
    }
}
