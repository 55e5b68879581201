package io.github.roost.index.hnsw;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Which nodes are in the upper layers of a graph of a number of nodes: one in m of each layer, as many as would be expected if
 * each node's highest layer were drawn on its own (Malkov and Yashunin, section 4.1), the same each time. Immutable.
 *
 * @param counts nodes of each upper layer, layer 1 first
 * @param order the nodes from the top layer down; those of layer 0 alone in their old order
 */
record NodeLevels(int[] counts, int[] order) {
    private static final long SEED = 42;

    /**
     * @param nodes at least 1
     * @param m one node of a layer in so many is in the next, from 2
     */
    static NodeLevels of(int nodes, int m) {
        int[] counts = IntStream.iterate(nodes / m, count -> count > 0, count -> count / m)
                .toArray();
        int upper = counts.length == 0 ? 0 : counts[0];
        SplittableRandom random = new SplittableRandom(SEED);
        int[] order = IntStream.range(0, nodes).toArray();
        for (int i = 0; i < upper; i++) {
            int other = random.nextInt(i, nodes);
            int node = order[other];
            order[other] = order[i];
            order[i] = node;
        }
        // Rows that follow each other are often alike: in that order they are inserted from a cache.
        Arrays.sort(order, upper, nodes);
        return new NodeLevels(counts, order);
    }
}
