package io.github.roost.index.remote;

/**
 * The word that allocates the slots of a pair's two logs. A slot is never allocated twice, so a writer that was given up as lost cannot overwrite
 * another writer's record. Immutable.
 *
 * @param generation generation of the pair that the logs belong to, 16 bits
 * @param even slots allocated to the even partition, from the gap's start
 * @param odd slots allocated to the odd partition, from the gap's end
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
