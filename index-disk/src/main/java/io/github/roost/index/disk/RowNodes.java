package io.github.roost.index.disk;

import java.util.Arrays;

/** The node of each row, by external id: open addressing with linear probing, 12 to 24 bytes per row. Not thread-safe. */
final class RowNodes {
    static final int NONE = -1;
    private static final int LEAST = 16;

    private long[] ids = new long[LEAST];
    private int[] nodes = new int[LEAST];
    private int size;

    RowNodes() {
        Arrays.fill(nodes, NONE);
    }

    static RowNodes of(Codes codes) {
        RowNodes all = new RowNodes();
        for (int node = 0; node < codes.nodes(); node++) {
            if (codes.state(node) == Codes.LIVE) {
                all.put(codes.id(node), node);
            }
        }
        return all;
    }

    int size() {
        return size;
    }

    /** The node of a row, or {@link #NONE}. */
    int node(long id) {
        return nodes[slot(id)];
    }

    /** Sets the node of a row; gives the one before, or {@link #NONE}. */
    int put(long id, int node) {
        if (2 * (size + 1) > ids.length) {
            grow();
        }
        int slot = slot(id);
        int before = nodes[slot];
        size += before == NONE ? 1 : 0;
        ids[slot] = id;
        nodes[slot] = node;
        return before;
    }

    /** Takes a row away; gives its node, or {@link #NONE}. */
    int remove(long id) {
        int slot = slot(id);
        int before = nodes[slot];
        if (before == NONE) {
            return NONE;
        }
        size--;
        int mask = ids.length - 1;
        // Closes the gap: a row that a search would no longer come to moves into it (Knuth, TAOCP 3, 6.4, algorithm R).
        int gap = slot;
        for (int at = (slot + 1) & mask; nodes[at] != NONE; at = (at + 1) & mask) {
            int home = home(ids[at]);
            boolean staysReachable = gap < at ? gap < home && home <= at : gap < home || home <= at;
            if (!staysReachable) {
                ids[gap] = ids[at];
                nodes[gap] = nodes[at];
                gap = at;
            }
        }
        nodes[gap] = NONE;
        return before;
    }

    private int slot(long id) {
        int mask = ids.length - 1;
        int at = home(id);
        while (nodes[at] != NONE && ids[at] != id) {
            at = (at + 1) & mask;
        }
        return at;
    }

    private int home(long id) {
        long mixed = id * 0x9E37_79B9_7F4A_7C15L;
        return (int) (mixed >>> 32) & (ids.length - 1);
    }

    private void grow() {
        long[] idsBefore = ids;
        int[] nodesBefore = nodes;
        ids = new long[2 * idsBefore.length];
        nodes = new int[ids.length];
        Arrays.fill(nodes, NONE);
        for (int i = 0; i < idsBefore.length; i++) {
            if (nodesBefore[i] != NONE) {
                int slot = slot(idsBefore[i]);
                ids[slot] = idsBefore[i];
                nodes[slot] = nodesBefore[i];
            }
        }
    }
}
