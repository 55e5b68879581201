package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.NodeSet;

/**
 * The rows and nodes of a graph that a search may return.
 *
 * @param nodes the nodes with at least one allowed row
 * @param rows the allowed rows; the same object as {@code nodes} if each node is one row
 */
public record AllowedRows(NodeSet nodes, NodeSet rows) {
    public static final AllowedRows ALL = new AllowedRows(NodeSet.ALL, NodeSet.ALL);

    /** All rows of an image, as a set of its own that rows can be removed from. */
    public static AllowedRows full(GraphImage image) {
        NodeSet rows = NodeSet.full(image.shape().rows());
        return new AllowedRows(image.hasGroups() ? NodeSet.full(image.shape().nodes()) : rows, rows);
    }

    public long bytes() {
        return rows == nodes ? rows.bytes() : rows.bytes() + nodes.bytes();
    }

    /** Removes a row, and its node if no other row of the node is left. One thread at a time. */
    public void remove(GraphImage image, int row) {
        rows.remove(row);
        if (image.hasGroups()) {
            int node = image.nodeOf(row);
            if (!rows.containsAny(image.firstRow(node), image.firstRow(node + 1))) {
                nodes.remove(node);
            }
        }
    }

    static AllowedRows of(GraphImage image, NodeSet rows, Runnable betweenRows) {
        if (!image.hasGroups()) {
            return new AllowedRows(rows, rows);
        }
        NodeSet nodes = new NodeSet.Asking(image.shape().nodes())
                .resume(node -> rows.containsAny(image.firstRow(node), image.firstRow(node + 1)), betweenRows);
        return new AllowedRows(nodes, rows);
    }
}
