package io.github.roost.index.remote;

/**
 * Space that a writer is about to fill, packed into a word of the head. If the writer is lost, the space is lost too, since the writer may still
 * write there. Immutable.
 *
 * @param at offset, a multiple of the page size
 * @param bytes size, a multiple of the page size
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
