package io.github.roost.index.remote.format;

/**
 * Space that a writer is about to fill, packed into a word of the head. If the writer is lost, the space is lost too, since the writer may still
 * write there. Immutable.
 *
 * @param at offset, a multiple of the page size
 * @param bytes size, a multiple of the page size
 */
public record SpaceReservation(long at, long bytes) {
    private static final int BITS = 28;

    public static SpaceReservation of(long word) {
        return new SpaceReservation(
                (word & EpochRoot.MAX_PAGE) * EpochRoot.PAGE, ((word >>> BITS) & EpochRoot.MAX_PAGE) * EpochRoot.PAGE);
    }

    public long word() {
        return ((bytes / EpochRoot.PAGE) << BITS) | (at / EpochRoot.PAGE);
    }

    public long end() {
        return at + bytes;
    }

    /** Whether the spaces overlap or are adjacent. */
    public boolean touches(SpaceReservation other) {
        return at <= other.end() && other.at <= end();
    }

    /** One space of two that touch. */
    public SpaceReservation joined(SpaceReservation other) {
        long from = Math.min(at, other.at);
        return new SpaceReservation(from, Math.max(end(), other.end()) - from);
    }
}
