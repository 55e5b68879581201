package io.github.roost.index.remote.format;

/**
 * The word that publishes the records of a pair's two logs: a record counts once its slot is below the tail. One compare-and-set changes both
 * tails, so records of one change in both logs become visible together. Immutable.
 *
 * @param fence number of takeovers from lost writers, 16 bits
 * @param generation generation of the pair that the logs belong to, 16 bits
 * @param even number of slots up to the last record of the even partition
 * @param odd number of slots up to the last record of the odd partition
 */
public record LogTails(int fence, int generation, int even, int odd) {
    private static final int MASK = 0xffff;

    public static LogTails of(long word) {
        return new LogTails(
                (int) (word >>> 48) & MASK, (int) (word >>> 32) & MASK, (int) (word >>> 16) & MASK, (int) word & MASK);
    }

    public long word() {
        return (long) fence << 48 | (long) generation << 32 | (long) even << 16 | odd;
    }

    public int of(int partition) {
        return partition % 2 == 0 ? even : odd;
    }

    public LogTails with(int partition, int tail) {
        return partition % 2 == 0
                ? new LogTails(fence, generation, tail, odd)
                : new LogTails(fence, generation, even, tail);
    }

    /**
     * These tails with the next fence, written by a writer that takes over: compare-and-sets of the fenced-off writer fail afterwards, unless
     * 65,536 takeovers have happened since without a change.
     */
    public LogTails fenced() {
        return new LogTails((fence + 1) & MASK, generation, even, odd);
    }
}
