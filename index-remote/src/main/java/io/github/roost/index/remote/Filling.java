package io.github.roost.index.remote;

/**
 * Space that a writer has set out to fill, as a word of the head: should the writer be lost, the space is too, since it may go on to
 * write there. Immutable.
 *
 * @param at where it begins, a whole page
 * @param bytes its size, whole pages
 */
record Filling(long at, long bytes) {
    private static final int BITS = 28;

    static Filling of(long word) {
        return new Filling((word & Root.MAX_PAGE) * Root.PAGE, ((word >>> BITS) & Root.MAX_PAGE) * Root.PAGE);
    }

    long word() {
        return ((bytes / Root.PAGE) << BITS) | (at / Root.PAGE);
    }

    long end() {
        return at + bytes;
    }
}
