package io.github.roost.index.remote.format;

/**
 * The word that counts the rows of a pool. Immutable.
 *
 * @param fence number of takeovers from lost writers, 32 bits: without it, a stopped writer's compare-and-set would succeed if later changes had
 *     brought back the number that it expects
 * @param rows number of rows; in an undamaged pool at most 31 bits
 */
public record RowCount(int fence, long rows) {
    private static final long MASK = 0xffff_ffffL;

    public static RowCount of(long word) {
        return new RowCount((int) (word >>> Integer.SIZE), word & MASK);
    }

    public long word() {
        return (long) fence << Integer.SIZE | (rows & MASK);
    }

    public RowCount plus(long more) {
        return new RowCount(fence, rows + more);
    }

    /** This count with the next fence, written by a writer that takes over. */
    public RowCount fenced() {
        return new RowCount(fence + 1, rows);
    }
}
