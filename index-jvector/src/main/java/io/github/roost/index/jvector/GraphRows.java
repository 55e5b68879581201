package io.github.roost.index.jvector;

import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.NodesIterator;
import io.github.jbellis.jvector.util.Bits;
import java.util.Arrays;
import java.util.BitSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The ordinals of a graph's live nodes and their external ids. Immutable, as long as the caller's array of ids is. */
final class GraphRows {
    /** Exclusive bound of the ordinals. */
    private final int bound;
    /** The ordinals of live nodes; null if all are. */
    private final @Nullable BitSet live;

    private final int size;
    /** The id of each ordinal; null if an ordinal is its own id. */
    private final long @Nullable [] ids;
    /** The ids of live nodes, ascending, and their ordinals; empty if an ordinal is its own id. */
    private final long[] sorted;

    private final int[] ordinals;

    /**
     * Reads the ordinals of a graph.
     *
     * @param graph the graph
     * @param liveNodes its nodes that are not deleted
     * @param ids one per ordinal; null if an ordinal is its own id
     * @throws IllegalArgumentException if there is not one id per ordinal, or two live nodes have the same
     */
    GraphRows(ImmutableGraphIndex graph, Bits liveNodes, long @Nullable [] ids) {
        this.bound = graph.getIdUpperBound();
        this.live = liveNodes instanceof Bits.MatchAllBits && graph.size(0) == bound ? null : live(graph, liveNodes);
        this.size = live == null ? bound : live.cardinality();
        this.ids = ids;
        if (ids == null) {
            sorted = new long[0];
            ordinals = new int[0];
            return;
        }
        if (ids.length != bound) {
            throw new IllegalArgumentException("there must be one id per ordinal of the graph, got " + ids.length
                    + " ids for " + bound + " ordinals");
        }
        sorted = ordinals().mapToLong(ordinal -> ids[ordinal]).sorted().toArray();
        for (int i = 1; i < sorted.length; i++) {
            if (sorted[i] == sorted[i - 1]) {
                throw new IllegalArgumentException("ids must differ, got " + sorted[i] + " twice");
            }
        }
        ordinals = new int[size];
        ordinals().forEach(ordinal -> ordinals[Arrays.binarySearch(sorted, ids[ordinal])] = ordinal);
    }

    private static BitSet live(ImmutableGraphIndex graph, Bits liveNodes) {
        BitSet live = new BitSet(graph.getIdUpperBound());
        for (NodesIterator nodes = graph.getNodes(0); nodes.hasNext(); ) {
            int node = nodes.nextInt();
            live.set(node, liveNodes.get(node));
        }
        return live;
    }

    int size() {
        return size;
    }

    /** The exclusive bound of the ordinals, of which some may have no live node. */
    int bound() {
        return bound;
    }

    /** The ordinals of the live nodes, ascending. */
    IntStream ordinals() {
        return live == null ? IntStream.range(0, bound) : live.stream();
    }

    /** The ordinal of the live node that has so many live nodes before it. */
    int ordinalAt(int row) {
        return live == null ? row : live.stream().skip(row).findFirst().orElseThrow();
    }

    boolean isLive(int ordinal) {
        return ordinal >= 0 && ordinal < bound && (live == null || live.get(ordinal));
    }

    long id(int ordinal) {
        return ids == null ? ordinal : ids[ordinal];
    }

    /** The ordinal of an id, or -1. */
    int ordinal(long id) {
        if (ids != null) {
            int at = Arrays.binarySearch(sorted, id);
            return at < 0 ? -1 : ordinals[at];
        }
        return id == (int) id && isLive((int) id) ? (int) id : -1;
    }
}
