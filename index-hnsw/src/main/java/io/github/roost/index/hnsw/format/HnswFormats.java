package io.github.roost.index.hnsw.format;

import io.github.roost.vector.TableFormat;
import io.github.roost.vector.file.TableFormats;
import java.util.List;

/** The formats of saved HNSW tables. */
public final class HnswFormats implements TableFormats {
    /** A table saved by {@code HnswTable.save}. */
    public static final TableFormat TABLE = new TableFormat("ROOSTHNW", "an HNSW table", "HnswTable.open");
    /** A table saved by {@code LiveTable.save}. */
    public static final TableFormat LIVE = new TableFormat("ROOSTLIV", "a live HNSW table", "LiveTable.open");

    @Override
    public List<TableFormat> formats() {
        return List.of(TABLE, LIVE);
    }
}
