package io.github.roost.server;

import io.github.roost.vector.VectorTable;
import java.util.Optional;

/**
 * A saved table of any index. Its rows have ids but no words. It is read-only, since changes would not be saved.
 *
 * @param rows the table
 */
record SavedTable(VectorTable rows) implements ServedTable {
    @Override
    public Optional<Item> item(long id) {
        return Optional.empty();
    }

    @Override
    public Optional<Long> idOfKey(String key) {
        return Optional.empty();
    }

    @Override
    public Optional<float[]> vectorOf(String name) {
        return idOf(name).map(rows::vector);
    }
}
