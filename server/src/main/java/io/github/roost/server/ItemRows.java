package io.github.roost.server;

import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.rows.Attributes;
import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.util.Map;

/**
 * The words of a service's rows at its start, in a table by id: the worker that finds rows reads their words at once, as one request.
 * Thread-safe.
 */
final class ItemRows implements AutoCloseable {
    private static final Schema SCHEMA = Schema.of(Column.ofText("key"), Column.ofText("name"), Column.ofText("text"));

    private final VersionedRows table;
    private final SearchFunction<SearchResult, Attributes.Enriched> reading;

    private ItemRows(VersionedRows table) {
        this.table = table;
        this.reading =
                Attributes.after((SearchResult found, SearchContext context) -> found, table, "key", "name", "text");
    }

    /**
     * Loads the words.
     *
     * @param items by id
     * @throws IOException if temporary files cannot be written
     */
    static ItemRows of(Map<Long, Item> items) throws IOException {
        // Afterwards all data is in memory; deleting the files leaves nothing behind, however this process ends.
        try (TemporaryFolder folder = new TemporaryFolder("roost-serve-")) {
            VersionedRows table = VersionedRows.open(folder.path());
            boolean done = false;
            try {
                load(table, items);
                done = true;
                return new ItemRows(table);
            } finally {
                if (!done) {
                    table.close();
                }
            }
        }
    }

    private static void load(VersionedRows table, Map<Long, Item> items) throws IOException {
        try (VersionBuilder loading = table.begin(1, SCHEMA, items.size())) {
            RowWriter row = loading.writer();
            items.forEach((id, item) -> loading.put(
                    id, row.setText(0, item.key()).setText(1, item.name()).setText(2, item.text())));
            loading.seal();
        }
        table.publish(1);
    }

    /** Reads the words of rows, on the worker that has found them. */
    Attributes.Enriched of(SearchResult found, SearchContext context) throws Exception {
        return reading.search(found, context);
    }

    /** Decodes the words of an existing row, without its attributes. */
    static Item item(RowBatch rows, int row) {
        return new Item(rows.getText(row, 0), rows.getText(row, 1), rows.getText(row, 2), RowAttributes.NONE);
    }

    @Override
    public void close() {
        table.close();
    }
}
