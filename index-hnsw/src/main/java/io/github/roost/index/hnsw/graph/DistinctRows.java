package io.github.roost.index.hnsw.graph;

import java.util.Arrays;

/**
 * Maps the rows of a table to graph nodes: rows with equal vectors share one node. As separate nodes, duplicates would fill each
 * other's neighbor lists and become disconnected from the rest of the graph. Immutable.
 */
final class DistinctRows {
    private static final int NONE = -1;
    /** Max length of an array in all JVMs; also the max number of rows of a table. */
    private static final int MAX_SLOTS = Integer.MAX_VALUE - 8;

    private final long[] ids;
    /** The first row of each node. */
    private final int[] firstRow;
    /** For each row the next row of the same node, or {@link #NONE}. */
    private final int[] nextEqual;

    private DistinctRows(long[] ids, int[] firstRow, int[] nextEqual) {
        this.ids = ids;
        this.firstRow = firstRow;
        this.nextEqual = nextEqual;
    }

    /**
     * Finds the nodes, in the order of their first rows.
     *
     * @param rows the rows in the space of the graph, in which rows that its distances cannot tell apart are equal
     * @param betweenRows runs once per row
     */
    static DistinctRows of(long[] ids, GraphRows rows, Runnable betweenRows) {
        int[] firstRow = new int[rows.size()];
        int[] nextEqual = new int[rows.size()];
        Arrays.fill(nextEqual, NONE);
        // A hash table with open addressing of the first row of each node.
        int[] slots = new int[slotsFor(rows.size())];
        Arrays.fill(slots, NONE);
        float[] values = new float[rows.dimension()];
        int nodes = 0;
        for (int row = 0; row < rows.size(); row++) {
            betweenRows.run();
            int slot = slot(rows.hash(row, values), slots.length);
            while (slots[slot] != NONE && !rows.isEqual(slots[slot], row)) {
                slot = slot + 1 < slots.length ? slot + 1 : 0;
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

    /** Twice as many slots as rows, or as many as an array can have, which is never less than one per row. */
    static int slotsFor(int rows) {
        return Math.clamp(2L * rows, 2, MAX_SLOTS);
    }

    /** The first slot of a hash, from 0 to {@code slots} exclusive: the high bits of the spread hash times the slots. */
    static int slot(int hash, int slots) {
        int spread = (hash ^ (hash >>> 16)) * 0x9E3779B9;
        return (int) ((Integer.toUnsignedLong(spread) * slots) >>> Integer.SIZE);
    }

    /** Renumbers the nodes: the new node {@code i} is the old node {@code order[i]}. */
    DistinctRows ordered(int[] order) {
        return new DistinctRows(
                ids, Arrays.stream(order).map(node -> firstRow[node]).toArray(), nextEqual);
    }

    /** Number of rows, duplicates included. */
    int rows() {
        return nextEqual.length;
    }

    /** Number of nodes. */
    int nodes() {
        return firstRow.length;
    }

    /** The first row of a node. */
    int row(int node) {
        return firstRow[node];
    }

    /** Number of rows of a node. */
    int count(int node) {
        int count = 0;
        for (int row = firstRow[node]; row != NONE; row = nextEqual[row]) {
            count++;
        }
        return count;
    }

    /** The external ids of a node's rows, ascending. */
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
