package io.github.roost.index.remote;

/**
 * The word that hands out the slots of a pair's two logs: a slot that a writer has got is never another's, so that what a writer writes
 * after it was given up for lost hits nobody's record. Immutable.
 *
 * @param generation which build of the pair the logs belong to, 16 bits
 * @param even slots of the even partition that were handed out, from the gap's beginning
 * @param odd the same of the odd partition, from the gap's end
 */
record LogSlots(int generation, int even, int odd) {
    private static final int MASK = 0xffff;

    static LogSlots of(long word) {
        return new LogSlots((int) (word >>> 32) & MASK, (int) (word >>> 16) & MASK, (int) word & MASK);
    }

    long word() {
        return (long) generation << 32 | (long) even << 16 | odd;
    }

    int of(int partition) {
        return partition % 2 == 0 ? even : odd;
    }

    LogSlots next(int partition) {
        return partition % 2 == 0 ? new LogSlots(generation, even + 1, odd) : new LogSlots(generation, even, odd + 1);
    }

    int all() {
        return even + odd;
    }
}
