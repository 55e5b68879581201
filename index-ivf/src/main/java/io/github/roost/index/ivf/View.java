package io.github.roost.index.ivf;

import java.util.function.LongSupplier;

/**
 * What a search looks at.
 *
 * @param lists in force when it began
 * @param movesAtBegin how many rows had been moved, odd while one was, before these lists were read
 * @param moves the same now
 */
record View(Lists lists, long movesAtBegin, LongSupplier moves) {
    /** Whether the search may have met a row at two places: one was moved, or came back, since it began. */
    boolean mayRepeat() {
        return (movesAtBegin & 1) != 0 || moves.getAsLong() != movesAtBegin;
    }
}
