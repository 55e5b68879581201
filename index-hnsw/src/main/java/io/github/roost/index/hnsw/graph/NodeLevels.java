package io.github.roost.index.hnsw.graph;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * The assignment of nodes to the upper layers of a graph. One node in m of each layer is in the next, the expected number if each
 * node's highest layer were drawn independently (Malkov and Yashunin, section 4.1). Deterministic. Immutable.
 *
 * @param counts number of nodes of each upper layer, layer 1 first
 * @param order the nodes from the top layer down
 * @param insertion the places in {@code order} of the nodes, in the order of their insertion; the first is 0
 */
record NodeLevels(int[] counts, int[] order, int[] insertion) {
    private static final long SEED = 42;

    /**
     * Draws the nodes of the upper layers at random, and inserts them first. The others keep their old order.
     *
     * @param nodes at least 1
     * @param m one node in m of a layer is in the next, from 2
     */
    static NodeLevels random(int nodes, int m) {
        int[] counts = counts(nodes, m);
        return new NodeLevels(
                counts, drawn(nodes, counts, 0), IntStream.range(0, nodes).toArray());
    }

    /**
     * Draws the nodes of the upper layers at random, but the first node is the entry point. All are inserted in their old order.
     *
     * @param nodes at least 1
     * @param m one node in m of a layer is in the next, from 2
     */
    static NodeLevels inOrder(int nodes, int m) {
        int[] counts = counts(nodes, m);
        int[] order = drawn(nodes, counts, 1);
        int[] insertion = new int[nodes];
        for (int place = 0; place < nodes; place++) {
            insertion[order[place]] = place;
        }
        return new NodeLevels(counts, order, insertion);
    }

    private static int[] drawn(int nodes, int[] counts, int from) {
        int upper = counts.length == 0 ? from : counts[0];
        SplittableRandom random = new SplittableRandom(SEED);
        int[] order = IntStream.range(0, nodes).toArray();
        for (int i = from; i < upper; i++) {
            int other = random.nextInt(i, nodes);
            int node = order[other];
            order[other] = order[i];
            order[i] = node;
        }
        // Consecutive rows are often similar: inserted in that order, they find their neighbors in the cache.
        Arrays.sort(order, upper, nodes);
        return order;
    }

    private static int[] counts(int nodes, int m) {
        return IntStream.iterate(nodes / m, count -> count > 0, count -> count / m)
                .toArray();
    }
}
