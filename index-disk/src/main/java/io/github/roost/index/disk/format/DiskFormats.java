package io.github.roost.index.disk.format;

import io.github.roost.vector.TableFormat;
import io.github.roost.vector.file.TableFormats;
import java.util.List;

/** The format of tables on disk. */
public final class DiskFormats implements TableFormats {
    /** A table built by {@code DiskTable}. */
    public static final TableFormat TABLE = new TableFormat("ROOSTDSK", "a table on disk", "DiskTable.open");

    @Override
    public List<TableFormat> formats() {
        return List.of(TABLE);
    }
}
