package io.github.roost.index.remote;

/**
 * The one word by which a pool changes from epoch to epoch: it names the directory that counts. Immutable.
 *
 * @param epoch number of the epoch, from 1, 28 bits
 * @param fence how many writers have taken over from one that was lost, 8 bits
 * @param page where its directory begins, in units of {@value #PAGE} bytes, 28 bits
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

    /** The next epoch's. */
    Root next(long directoryAt) {
        return new Root(epoch + 1, fence, directoryAt / PAGE);
    }

    /**
     * With the next fence, for a writer that takes over: what another expects that was stopped fails, unless 256 writers have been lost
     * since and no epoch has begun.
     */
    Root fenced() {
        return new Root(epoch, (fence + 1) & FENCE, page);
    }
}
