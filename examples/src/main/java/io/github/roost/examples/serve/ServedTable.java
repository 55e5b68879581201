package io.github.roost.examples.serve;

import io.github.roost.core.vector.VectorTable;
import java.util.Optional;

/** A table that a service searches. Thread-safe. */
sealed interface ServedTable permits DescribedTable, SavedTable {
    VectorTable rows();

    default String name() {
        return rows().name();
    }

    /** What a row stands for; empty for a row without words, or where there is none. */
    Optional<Item> item(long id);

    /** The vector of the row that is called so; a row without words is called by its id. */
    Optional<float[]> vectorOf(String name);
}
