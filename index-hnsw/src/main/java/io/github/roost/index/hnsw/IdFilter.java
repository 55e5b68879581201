package io.github.roost.index.hnsw;

import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.NodeSet;
import java.util.BitSet;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.LongPredicate;

/**
 * Which rows of a table a search may find, by external id. A filter asks its predicate about every row of a table once,
 * at its first search of that table, and keeps the answers for later searches: keep the filter as long as they are to be
 * the same. Thread-safe if the predicate is.
 */
public final class IdFilter {
    /** Every row. */
    static final IdFilter ALL = new IdFilter(id -> true);

    private final LongPredicate allowed;
    /** By image, which does not outlive its table because of this. */
    private final Map<GraphImage, AllowedRows> compiled = Collections.synchronizedMap(new WeakHashMap<>());

    /** What searches that were no longer wanted have asked so far. */
    private final Map<GraphImage, NodeSet.Asking> unfinished = Collections.synchronizedMap(new WeakHashMap<>());

    private IdFilter(LongPredicate allowed) {
        this.allowed = allowed;
    }

    /**
     * The rows that a predicate accepts.
     *
     * @param allowed asked for external ids, in any order, from the threads that search; must always answer the same
     * @return the filter
     */
    public static IdFilter of(LongPredicate allowed) {
        return new IdFilter(allowed);
    }

    /**
     * The rows whose id is the index of a set bit.
     *
     * @param ids copied
     * @return the filter
     */
    public static IdFilter of(BitSet ids) {
        BitSet copy = (BitSet) ids.clone();
        return new IdFilter(id -> id >= 0 && id <= Integer.MAX_VALUE && copy.get((int) id));
    }

    /**
     * The rows of an image that the filter allows; at its first search it asks about all of them.
     *
     * @param betweenRows runs every few rows; what it throws ends the asking, and the next search goes on from there
     */
    AllowedRows rowsOf(GraphImage image, Runnable betweenRows) {
        if (this == ALL) {
            return AllowedRows.ALL;
        }
        AllowedRows rows = compiled.get(image);
        if (rows == null) {
            rows = ask(image, betweenRows);
            compiled.put(image, rows);
        }
        return rows;
    }

    /** Two threads may come here at once and find the same: one goes on with what was begun, the other begins anew. */
    private AllowedRows ask(GraphImage image, Runnable betweenRows) {
        NodeSet.Asking begun = unfinished.remove(image);
        NodeSet.Asking asking = begun == null ? new NodeSet.Asking(image.shape().rows()) : begun;
        boolean finished = false;
        try {
            AllowedRows rows =
                    AllowedRows.of(image, asking.goOn(row -> allowed.test(image.id(row)), betweenRows), betweenRows);
            finished = true;
            return rows;
        } finally {
            if (!finished) {
                unfinished.put(image, asking);
            }
        }
    }

    /** Of an image that is still being filled only the first {@code count} rows, asked about each time. */
    AllowedRows rowsAmong(GraphImage image, int count, Runnable betweenRows) {
        if (this == ALL) {
            return AllowedRows.ALL;
        }
        NodeSet rows = new NodeSet.Asking(image.shape().rows())
                .goOn(row -> row < count && allowed.test(image.id(row)), betweenRows);
        return AllowedRows.of(image, rows, betweenRows);
    }

    /**
     * What a search may find of a graph.
     *
     * @param nodes those with at least one allowed row
     * @param rows the allowed rows; the same set where a node is a row
     */
    record AllowedRows(NodeSet nodes, NodeSet rows) {
        static final AllowedRows ALL = new AllowedRows(NodeSet.ALL, NodeSet.ALL);

        /** Every row of an image, to remove from. */
        static AllowedRows full(GraphImage image) {
            NodeSet rows = NodeSet.full(image.shape().rows());
            return new AllowedRows(
                    image.hasGroups() ? NodeSet.full(image.shape().nodes()) : rows, rows);
        }

        /** Takes a row out, and its node with its last row. One thread at a time. */
        void remove(GraphImage image, int row) {
            rows.remove(row);
            if (image.hasGroups()) {
                int node = image.nodeOf(row);
                if (!rows.containsAny(image.firstRow(node), image.firstRow(node + 1))) {
                    nodes.remove(node);
                }
            }
        }

        private static AllowedRows of(GraphImage image, NodeSet rows, Runnable betweenRows) {
            if (!image.hasGroups()) {
                return new AllowedRows(rows, rows);
            }
            NodeSet nodes = new NodeSet.Asking(image.shape().nodes())
                    .goOn(node -> rows.containsAny(image.firstRow(node), image.firstRow(node + 1)), betweenRows);
            return new AllowedRows(nodes, rows);
        }
    }
}
