package io.github.roost.neighborhash;

import io.github.roost.neighborhash.kernel.Slots;

/**
 * Counts the cache lines that lookups touch: the average probing cache lines (APCL) of the NeighborHash paper. A key's lookup
 * touches the lines of its chain's slots up to its own; a line counts once, even if the chain returns to it. Stateless.
 */
final class ProbedLines {
    private ProbedLines() {}

    /** The average over all keys, including removed keys; 0 if there are none. */
    static double average(Slots slots) {
        long keys = 0;
        long lines = 0;
        long[] touched = new long[Chains.LONGEST];
        for (long head = 0; head < slots.count(); head++) {
            int count = 0;
            for (long slot = slots.isHost(head) ? head : -1; slot >= 0; slot = slots.next(slot)) {
                if (!contains(touched, count, Slots.line(slot))) {
                    touched[count++] = Slots.line(slot);
                }
                keys++;
                lines += count;
            }
        }
        return keys == 0 ? 0 : (double) lines / keys;
    }

    private static boolean contains(long[] lines, int count, long line) {
        for (int i = 0; i < count; i++) {
            if (lines[i] == line) {
                return true;
            }
        }
        return false;
    }
}
