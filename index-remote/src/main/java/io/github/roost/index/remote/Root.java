package io.github.roost.index.remote;

/**
 * The word that names the directory of the current epoch; replacing it begins the next epoch. Immutable.
 *
 * @param epoch number of the epoch, from 1, 28 bits
 * @param fence number of takeovers from lost writers, 8 bits
 * @param page offset of the directory, in units of {@value #PAGE} bytes, 28 bits
 */
record Root(long epoch, int fence, long page) {
    static final long PAGE = 4_096;
    private static final int BITS = 28;
    static final long MAX_EPOCH = (1L << BITS) - 1;
    static final long MAX_PAGE = (1L << BITS) - 1;
    private static final int FENCE = 0xff;

    static Root of(long word) {
        return new Root(word >>> (Long.SIZE - BITS), (int) (word >>> BITS) & FENCE, word & MAX_PAGE);
    }

    long word() {
        return epoch << (Long.SIZE - BITS) | (long) fence << BITS | page;
    }

    long directoryAt() {
        return page * PAGE;
    }

    /** The root of the next epoch. */
    Root next(long directoryAt) {
        return new Root(epoch + 1, fence, directoryAt / PAGE);
    }

    /**
     * This root with the next fence, written by a writer that takes over: compare-and-sets of the fenced-off writer fail afterwards, unless 256
     * takeovers have happened since within one epoch.
     */
    Root fenced() {
        return new Root(epoch, (fence + 1) & FENCE, page);
    }
}
