package io.github.roost.vector;

import io.github.roost.vector.file.TableFormats;
import java.util.List;

/** Two formats that no index has. */
public final class MadeUpFormats implements TableFormats {
    static final TableFormat FIRST = new TableFormat("ROOSTONE", "a first table", "First.open");
    static final TableFormat SECOND = new TableFormat("ROOSTTWO", "a second table", "Second.open");

    @Override
    public List<TableFormat> formats() {
        return List.of(FIRST, SECOND);
    }
}
