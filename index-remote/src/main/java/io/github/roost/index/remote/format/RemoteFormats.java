package io.github.roost.index.remote.format;

import io.github.roost.vector.TableFormat;
import io.github.roost.vector.file.TableFormats;
import java.util.List;

/** The format of pools of remote memory. */
public final class RemoteFormats implements TableFormats {
    /** The region of a pool of {@code PartitionedIndex}. */
    public static final TableFormat POOL = new TableFormat("ROOSTRMP", "a pool of remote memory", "RemoteTable.open");

    @Override
    public List<TableFormat> formats() {
        return List.of(POOL);
    }
}
