package io.github.roost.index.remote.format;

/**
 * The word that names the directory of the current epoch; replacing it begins the next epoch. Immutable.
 *
 * @param epoch number of the epoch, from 1, 28 bits
 * @param fence number of takeovers from lost writers, 8 bits
 * @param page offset of the directory, in units of {@value #PAGE} bytes, 28 bits
 */
public record EpochRoot(long epoch, int fence, long page) {
    public static final long PAGE = 4_096;
    private static final int BITS = 28;
    public static final long MAX_PAGE = (1L << BITS) - 1;
    private static final int FENCE = 0xff;

    public static EpochRoot of(long word) {
        return new EpochRoot(word >>> (Long.SIZE - BITS), (int) (word >>> BITS) & FENCE, word & MAX_PAGE);
    }

    public long word() {
        return epoch << (Long.SIZE - BITS) | (long) fence << BITS | page;
    }

    public long directoryAt() {
        return page * PAGE;
    }

    /** The root of the next epoch. */
    public EpochRoot next(long directoryAt) {
        return new EpochRoot(epoch + 1, fence, directoryAt / PAGE);
    }

    /**
     * This root with the next fence, written by a writer that takes over: compare-and-sets of the fenced-off writer fail afterwards, unless 256
     * takeovers have happened since within one epoch.
     */
    public EpochRoot fenced() {
        return new EpochRoot(epoch, (fence + 1) & FENCE, page);
    }
}
