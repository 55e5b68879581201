package io.github.roost.rows;

/**
 * An approximate set of recently read cold rows: a hash table that keeps the last row read per slot. A row is recognized unless another row with its
 * slot was read in between, so the window is about as many rows as there are slots, and a scan that reads every row once recognizes none.
 *
 * <p>Thread-safe without ordering: racing threads may overwrite each other's 32-bit entries, so that a row is promoted or not by chance.
 */
final class Touches {
    private static final long FIRST = 0x9E3779B97F4A7C15L;

    private final int[] last;

    Touches(int places) {
        this.last = new int[Integer.highestOneBit(places)];
    }

    long bytes() {
        return (long) last.length * Integer.BYTES;
    }

    /** Records a read of a row; returns whether the row was read recently. */
    boolean again(long unit) {
        long hash = (unit + 1) * FIRST;
        int slot = (int) (hash >>> 32) & last.length - 1;
        int print = (int) (hash ^ hash >>> 32) | 1;
        boolean was = last[slot] == print;
        last[slot] = print;
        return was;
    }
}
