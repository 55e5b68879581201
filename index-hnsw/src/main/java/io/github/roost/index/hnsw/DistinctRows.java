package io.github.roost.index.hnsw;

import java.util.Arrays;

/**
 * Which rows of a table are a graph's nodes: equal ones are taken together, a node stands for all rows with its vector. Were
 * each a node of its own, they would fill up each other's neighbour lists and cut themselves off from the rest of the graph.
 * Immutable.
 */
final class DistinctRows {
    private static final int NONE = -1;

    private final long[] ids;
    /** The first row of each node. */
    private final int[] firstRow;
    /** The next row that is equal to each, or {@link #NONE}. */
    private final int[] nextEqual;

    private DistinctRows(long[] ids, int[] firstRow, int[] nextEqual) {
        this.ids = ids;
        this.firstRow = firstRow;
        this.nextEqual = nextEqual;
    }

    /**
     * Nodes in the order of their first rows.
     *
     * @param rows in the space of the graph, where rows are equal that its distances cannot tell apart
     * @param betweenRows runs with every row
     */
    static DistinctRows of(long[] ids, GraphRows rows, Runnable betweenRows) {
        int[] firstRow = new int[rows.size()];
        int[] nextEqual = new int[rows.size()];
        Arrays.fill(nextEqual, NONE);
        // Open addressing, at most half full: the first row of each node, by its hash.
        int[] slots = new int[Math.max(2, Integer.highestOneBit(rows.size()) * 4)];
        Arrays.fill(slots, NONE);
        float[] values = new float[rows.dimension()];
        int nodes = 0;
        for (int row = 0; row < rows.size(); row++) {
            betweenRows.run();
            int slot = spread(rows.hash(row, values)) & (slots.length - 1);
            while (slots[slot] != NONE && !rows.isEqual(slots[slot], row)) {
                slot = (slot + 1) & (slots.length - 1);
            }
            if (slots[slot] == NONE) {
                slots[slot] = row;
                firstRow[nodes++] = row;
            } else {
                nextEqual[row] = nextEqual[slots[slot]];
                nextEqual[slots[slot]] = row;
            }
        }
        return new DistinctRows(ids, Arrays.copyOf(firstRow, nodes), nextEqual);
    }

    private static int spread(int hash) {
        return ((hash ^ (hash >>> 16)) * 0x9E3779B9) >>> 3;
    }

    /** The same nodes with other numbers: each is at the place in {@code order} where its old number is. */
    DistinctRows ordered(int[] order) {
        return new DistinctRows(
                ids, Arrays.stream(order).map(node -> firstRow[node]).toArray(), nextEqual);
    }

    /** Number of rows, equal ones counted each. */
    int rows() {
        return nextEqual.length;
    }

    /** Number of nodes. */
    int nodes() {
        return firstRow.length;
    }

    /** A row with a node's vector. */
    int row(int node) {
        return firstRow[node];
    }

    /** How many rows a node stands for. */
    int count(int node) {
        int count = 0;
        for (int row = firstRow[node]; row != NONE; row = nextEqual[row]) {
            count++;
        }
        return count;
    }

    /** The external ids that a node stands for, ascending. */
    long[] ids(int node) {
        long[] all = new long[count(node)];
        int at = 0;
        for (int row = firstRow[node]; row != NONE; row = nextEqual[row]) {
            all[at++] = ids[row];
        }
        Arrays.sort(all);
        return all;
    }
}
