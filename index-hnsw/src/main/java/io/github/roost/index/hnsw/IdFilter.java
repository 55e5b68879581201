package io.github.roost.index.hnsw;

import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.NodeSet;
import java.util.BitSet;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;

/**
 * Which rows of a table a search may find, by external id. A filter asks its predicate about every row of a table once,
 * at its first search of that table, and keeps the answers for later searches: keep the filter as long as they are to be
 * the same. Thread-safe if the predicate is.
 */
public final class IdFilter {
    private final LongPredicate allowed;
    /** By image, which does not outlive its table because of this. */
    private final Map<GraphImage, AllowedRows> compiled = Collections.synchronizedMap(new WeakHashMap<>());

    private IdFilter(LongPredicate allowed) {
        this.allowed = allowed;
    }

    /**
     * The rows that a predicate accepts.
     *
     * @param allowed asked for external ids, in any order, from the threads that search; must always answer the same
     */
    public static IdFilter of(LongPredicate allowed) {
        return new IdFilter(allowed);
    }

    /**
     * The rows whose id is the index of a set bit.
     *
     * @param ids copied
     */
    public static IdFilter of(BitSet ids) {
        BitSet copy = (BitSet) ids.clone();
        return new IdFilter(id -> id >= 0 && id <= Integer.MAX_VALUE && copy.get((int) id));
    }

    /** Whether the row with this external id may be found. */
    boolean allows(long id) {
        return allowed.test(id);
    }

    AllowedRows rowsOf(GraphImage image) {
        AllowedRows rows = compiled.get(image);
        if (rows == null) {
            // Two threads may come here at once and find the same.
            rows = AllowedRows.of(image, row -> allowed.test(image.id(row)));
            compiled.put(image, rows);
        }
        return rows;
    }

    /**
     * What a filter leaves of a graph.
     *
     * @param nodes those with at least one allowed row
     * @param rows the allowed rows
     */
    record AllowedRows(NodeSet nodes, NodeSet rows) {
        static final AllowedRows ALL = new AllowedRows(NodeSet.ALL, NodeSet.ALL);

        static AllowedRows of(GraphImage image, IntPredicate allowed) {
            NodeSet rows = NodeSet.of(image.shape().rows(), allowed);
            if (!image.hasGroups()) {
                return new AllowedRows(rows, rows);
            }
            return new AllowedRows(
                    NodeSet.of(image.shape().nodes(), node -> {
                        for (int row = image.firstRow(node); row < image.firstRow(node + 1); row++) {
                            if (rows.contains(row)) {
                                return true;
                            }
                        }
                        return false;
                    }),
                    rows);
        }
    }
}
