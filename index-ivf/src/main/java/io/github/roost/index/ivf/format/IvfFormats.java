package io.github.roost.index.ivf.format;

import io.github.roost.vector.TableFormat;
import io.github.roost.vector.file.TableFormats;
import java.util.List;

/** The format of saved IVF tables. */
public final class IvfFormats implements TableFormats {
    /** A table saved by {@code IvfTable.save}. */
    public static final TableFormat TABLE = new TableFormat("ROSTIVF1", "an IVF table", "IvfTable.open");

    @Override
    public List<TableFormat> formats() {
        return List.of(TABLE);
    }
}
