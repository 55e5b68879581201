package io.github.roost.rows.format;

import io.github.roost.vector.TableFormat;
import io.github.roost.vector.file.TableFormats;
import java.util.List;

/** The format of versions of rows by keys. */
public final class RowsFormats implements TableFormats {
    /** A version of rows by keys, in the folder of {@code VersionedRows.open}. */
    public static final TableFormat VERSION =
            new TableFormat("ROSTTABL", "a version of rows by keys", "VersionedRows.open of its folder");

    @Override
    public List<TableFormat> formats() {
        return List.of(VERSION);
    }
}
