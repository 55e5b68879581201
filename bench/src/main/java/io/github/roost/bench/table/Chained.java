package io.github.roost.bench.table;

import java.util.Arrays;

/** Keys that collide are chained through free slots of the same table. */
abstract class Chained extends Placement {
    static final int NONE = -1;

    final int[] next;
    private int last;

    Chained(int bits) {
        super(bits);
        next = new int[slots.length];
        Arrays.fill(next, NONE);
        last = slots.length - 1;
    }

    @Override
    final int after(int slot) {
        return next[slot];
    }

    final int tail(int head) {
        int slot = head;
        while (next[slot] != NONE) {
            slot = next[slot];
        }
        return slot;
    }

    /** The last free slot of the table; since hashes are random it is as good as a random one. */
    final int lastFree() {
        while (!isFree(last)) {
            last--;
        }
        return last;
    }
}
