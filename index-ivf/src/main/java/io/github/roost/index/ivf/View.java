package io.github.roost.index.ivf;

import java.util.function.LongSupplier;

/**
 * The state of the table that a search sees.
 *
 * @param lists in force when it began
 * @param movesAtBegin {@code moves}, read before the lists; odd while a row was being moved
 * @param moves the current number of moves of rows
 */
record View(Lists lists, long movesAtBegin, LongSupplier moves) {
    /** Whether the search may have seen a row at two places: a row was moved, or removed and added again, since it began. */
    boolean mayRepeat() {
        return (movesAtBegin & 1) != 0 || moves.getAsLong() != movesAtBegin;
    }
}
