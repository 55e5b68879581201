package io.github.roost.index.disk.search;

import java.util.Arrays;

/** The nodes that one search has seen: a growing set of ints by open addressing. Not thread-safe. */
final class NodeMarks {
    private static final int NONE = -1;
    private static final int MIN = 1 << 10;

    private int[] slots = new int[MIN];
    private int size;

    NodeMarks() {
        Arrays.fill(slots, NONE);
    }

    /** Marks a node; false if it was marked before. */
    boolean add(int node) {
        if (2 * size >= slots.length) {
            grow();
        }
        if (!put(node)) {
            return false;
        }
        size++;
        return true;
    }

    private boolean put(int node) {
        int mask = slots.length - 1;
        int at = ((node * 0x9E3779B9) >>> 7) & mask;
        while (slots[at] != NONE) {
            if (slots[at] == node) {
                return false;
            }
            at = (at + 1) & mask;
        }
        slots[at] = node;
        return true;
    }

    private void grow() {
        int[] before = slots;
        slots = new int[2 * before.length];
        Arrays.fill(slots, NONE);
        for (int node : before) {
            if (node != NONE) {
                put(node);
            }
        }
    }
}
