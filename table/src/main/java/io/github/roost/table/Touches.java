package io.github.roost.table;

/**
 * Which cold rows were read a short while ago: of each of so many places, the row of that hash that was read last. So a row is found again unless another
 * one of its hash was read in between: the window is about as many rows as there are places, and who reads all rows once finds none again.
 *
 * <p>Thread-safe, as what it says need not be right: threads write numbers of 32 bits over each other's, and a row more or less is promoted.
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

    /** Whether a row was read a short while ago; from now on it was. */
    boolean again(long unit) {
        long hash = (unit + 1) * FIRST;
        int slot = (int) (hash >>> 32) & last.length - 1;
        int print = (int) (hash ^ hash >>> 32) | 1;
        boolean was = last[slot] == print;
        last[slot] = print;
        return was;
    }
}
