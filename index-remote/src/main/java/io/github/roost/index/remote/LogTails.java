package io.github.roost.index.remote;

/**
 * The word that publishes the records of a pair's two logs: a record is one of the log from the moment when its slot is below the tail.
 * One compare-and-set changes it, so that the records of both logs that one change needs are there at once. Immutable.
 *
 * @param fence how many writers have taken over from one that was lost, 16 bits
 * @param generation which build of the pair the logs belong to, 16 bits
 * @param even slots up to the last record of the even partition
 * @param odd the same of the odd partition
 */
record LogTails(int fence, int generation, int even, int odd) {
    private static final int MASK = 0xffff;

    static LogTails of(long word) {
        return new LogTails(
                (int) (word >>> 48) & MASK, (int) (word >>> 32) & MASK, (int) (word >>> 16) & MASK, (int) word & MASK);
    }

    long word() {
        return (long) fence << 48 | (long) generation << 32 | (long) even << 16 | odd;
    }

    int of(int partition) {
        return partition % 2 == 0 ? even : odd;
    }

    LogTails with(int partition, int tail) {
        return partition % 2 == 0
                ? new LogTails(fence, generation, tail, odd)
                : new LogTails(fence, generation, even, tail);
    }

    /**
     * With the next fence, for a writer that takes over: what another expects that was stopped fails, unless 65,536 writers have been
     * lost since and nothing was changed.
     */
    LogTails fenced() {
        return new LogTails((fence + 1) & MASK, generation, even, odd);
    }
}
