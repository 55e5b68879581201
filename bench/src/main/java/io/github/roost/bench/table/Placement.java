package io.github.roost.bench.table;

import java.util.SplittableRandom;

/**
 * A way to place keys that collide: the ablations of NeighborHash. Keys are random numbers other than 0; the highest bits of a key are its slot.
 * Slots take 16 bytes, four per cache line; additional data of a variant is not counted.
 */
abstract class Placement {
    static final int LINE_SLOTS = 4;
    /** Above the max number of lines that one lookup of random keys touches. */
    private static final int MAX_LINES = 1 << 16;

    final long[] slots;
    private final int shift;
    private final int[] touched = new int[MAX_LINES];
    private int lines;

    Placement(int bits) {
        this.slots = new long[1 << bits];
        this.shift = Long.SIZE - bits;
    }

    /** Adds a key that is not in the table. */
    abstract void add(long key);

    /** The slot after {@code slot} in the search for a key in the table. */
    abstract int after(int slot);

    final int bucket(long key) {
        return (int) (key >>> shift);
    }

    final boolean isFree(int slot) {
        return slots[slot] == 0;
    }

    final int mask() {
        return slots.length - 1;
    }

    /** Cache lines that the lookup of a key touches, each counted once; the mean over all keys. */
    final double averageLines(long[] keys) {
        long sum = 0;
        for (long key : keys) {
            lines = 0;
            int slot = bucket(key);
            touch(slot);
            while (slots[slot] != key) {
                slot = after(slot);
                touch(slot);
            }
            sum += lines;
        }
        return (double) sum / keys.length;
    }

    private void touch(int slot) {
        int line = slot / LINE_SLOTS;
        for (int i = lines - 1; i >= 0; i--) {
            if (touched[i] == line) {
                return;
            }
        }
        touched[lines++] = line;
    }

    /** Draws {@code count} random keys; the same for every placement. */
    static long[] keys(int count, long seed) {
        return new SplittableRandom(seed)
                .longs()
                .filter(key -> key != 0)
                .limit(count)
                .toArray();
    }
}
