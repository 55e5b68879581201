package io.github.roost.index.ivf;

import java.util.function.IntFunction;

/**
 * Longs by longs: a table of pairs with linear probing, at most two thirds full. Of libraries' maps it differs in what
 * happens where there is no memory to grow: whatever fails has changed nothing, and the map stays as good as it was. (Agrona's
 * sets its threshold before it allocates; from then on it fills to the last slot, and a look-up of what is not there never
 * ends.) Not thread-safe.
 */
final class LongMap {
    /** What there is for a key that is not there; no value may be this. */
    static final long MISSING = -1;

    private static final int LEAST_SLOTS = 16;
    /** As many as an array has room for. */
    private static final int MOST_SLOTS = 1 << 29;
    /** Spreads keys that follow each other over the slots: 2^64 divided by the golden ratio. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final IntFunction<long[]> memory;
    /** Keys at even places, their values behind them. */
    private long[] pairs;

    private int mask;
    private int shift;
    private int size;

    LongMap() {
        this(long[]::new);
    }

    /** @param memory allocates an array, or throws */
    LongMap(IntFunction<long[]> memory) {
        this.memory = memory;
        this.pairs = empty(LEAST_SLOTS);
        use(pairs);
    }

    int size() {
        return size;
    }

    /** The value of a key, or {@link #MISSING}. */
    long get(long key) {
        return pairs[slot(pairs, key) + 1];
    }

    /**
     * Makes room for so many more keys: {@link #put} of these needs no memory.
     *
     * @throws OutOfMemoryError if there is no memory for them; nothing has changed
     */
    void reserve(int more) {
        long wanted = (long) size + more;
        if (wanted <= roomOf(mask + 1)) {
            return;
        }
        long slots = mask + 1L;
        while (slots <= MOST_SLOTS && wanted > roomOf(slots)) {
            slots *= 2;
        }
        if (slots > MOST_SLOTS) {
            throw new OutOfMemoryError("a map takes at most " + roomOf(MOST_SLOTS) + " keys, got " + wanted);
        }
        long[] larger = empty((int) slots);
        long[] before = pairs;
        use(larger);
        for (int at = 0; at < before.length; at += 2) {
            if (before[at + 1] != MISSING) {
                int slot = slot(larger, before[at]);
                larger[slot] = before[at];
                larger[slot + 1] = before[at + 1];
            }
        }
    }

    /** Gives a key a value; needs no memory for a key that is there. */
    void put(long key, long value) {
        if (value == MISSING) {
            throw new IllegalArgumentException("a value must not be " + MISSING);
        }
        int slot = slot(pairs, key);
        if (pairs[slot + 1] == MISSING) {
            reserve(1);
            // Elsewhere, if the map has grown.
            slot = slot(pairs, key);
            pairs[slot] = key;
            size++;
        }
        pairs[slot + 1] = value;
    }

    /** Takes a key out; the value it had, or {@link #MISSING}. Needs no memory. */
    long remove(long key) {
        int gap = slot(pairs, key);
        long value = pairs[gap + 1];
        if (value == MISSING) {
            return value;
        }
        size--;
        // Whatever comes behind the gap, and looked for a place before it, moves into it: no slot is lost to what was.
        int last = pairs.length - 1;
        for (int at = next(gap); pairs[at + 1] != MISSING; at = next(at)) {
            if (((at - first(pairs[at])) & last) >= ((at - gap) & last)) {
                pairs[gap] = pairs[at];
                pairs[gap + 1] = pairs[at + 1];
                gap = at;
            }
        }
        pairs[gap + 1] = MISSING;
        return value;
    }

    /** Told of a key and its value. */
    @FunctionalInterface
    interface Visitor {
        void pair(long key, long value);
    }

    void forEach(Visitor visitor) {
        for (int at = 0; at < pairs.length; at += 2) {
            if (pairs[at + 1] != MISSING) {
                visitor.pair(pairs[at], pairs[at + 1]);
            }
        }
    }

    private static long roomOf(long slots) {
        return slots / 3 * 2;
    }

    private long[] empty(int slots) {
        long[] made = memory.apply(2 * slots);
        for (int at = 1; at < made.length; at += 2) {
            made[at] = MISSING;
        }
        return made;
    }

    private void use(long[] made) {
        pairs = made;
        mask = made.length / 2 - 1;
        shift = Long.numberOfLeadingZeros(mask);
    }

    /** Where a key is in pairs as many as those in use, or the empty place where it would be. */
    private int slot(long[] in, long key) {
        int at = first(key);
        while (in[at + 1] != MISSING && in[at] != key) {
            at = next(at);
        }
        return at;
    }

    private int first(long key) {
        return 2 * (int) ((key * SPREAD) >>> shift);
    }

    private int next(int at) {
        return (at + 2) & (2 * mask);
    }
}
