package io.github.roost.server;

import io.github.roost.vector.VectorTable;
import java.util.Optional;

/** A table that a service searches. Thread-safe. */
sealed interface ServedTable permits DescribedTable, SavedTable {
    VectorTable rows();

    default String name() {
        return rows().name();
    }

    /** The words of a row; empty for a row without words, or if there is no such row. */
    Optional<Item> item(long id);

    /** The vector of the row with a name; a row without words has its id as its name. */
    Optional<float[]> vectorOf(String name);
}
