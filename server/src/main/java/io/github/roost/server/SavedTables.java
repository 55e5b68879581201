package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Files of saved tables of any index, by the names of the served tables. */
final class SavedTables {
    private static final Map<TableFormat, Opener> SERVED = Map.of(
            HnswTable.FORMAT,
            (orchestrator, io, saved) -> HnswTable.open(orchestrator, saved.name(), saved.file()),
            LiveTable.FORMAT,
            (orchestrator, io, saved) -> LiveTable.open(orchestrator, saved.name(), saved.file()),
            IvfTable.FORMAT,
            (orchestrator, io, saved) -> IvfTable.open(orchestrator, saved.name(), saved.file()),
            DiskTable.FORMAT,
            (orchestrator, io, saved) ->
                    DiskTable.openReadOnly(orchestrator, Objects.requireNonNull(io), saved.name(), saved.file()));

    private final List<Saved> files;

    private record Saved(String name, Path file, TableFormat format) {}

    private interface Opener {
        /** Opens a table; {@code io} is not null if a table is on disk. */
        VectorTable open(Orchestrator orchestrator, @Nullable BlockIo io, Saved saved) throws IOException;
    }

    private SavedTables(List<Saved> files) {
        this.files = files;
    }

    /**
     * Determines the index of each file.
     *
     * @throws IOException if a file is missing, or is no table that can be served
     */
    static SavedTables of(Map<String, Path> files) throws IOException {
        List<Saved> saved = new ArrayList<>();
        for (Map.Entry<String, Path> next : files.entrySet()) {
            Path file = next.getValue();
            TableFormat format = TableFormat.of(file)
                    .filter(SERVED::containsKey)
                    .orElseThrow(() -> new FileFormatException(
                            file,
                            0,
                            "must be a saved table of HnswTable, LiveTable, IvfTable or DiskTable to be served"));
            saved.add(new Saved(next.getKey(), file, format));
        }
        return new SavedTables(saved);
    }

    /**
     * Opens the tables; disk tables for searches only.
     *
     * @throws IOException if one cannot be read, or is damaged; then none is open
     * @throws IllegalArgumentException if they differ in dimension or metric; then none is open
     */
    Tables open(Orchestrator orchestrator) throws IOException {
        boolean anyOnDisk = files.stream().anyMatch(file -> file.format().equals(DiskTable.FORMAT));
        return anyOnDisk ? open(orchestrator, BlockIo.builder(orchestrator).build()) : open(orchestrator, null);
    }

    private Tables open(Orchestrator orchestrator, @Nullable BlockIo io) throws IOException {
        Runnable release = io == null ? () -> {} : io::close;
        List<SavedTable> opened = new ArrayList<>();
        boolean done = false;
        try {
            for (Saved saved : files) {
                opened.add(new SavedTable(
                        Objects.requireNonNull(SERVED.get(saved.format())).open(orchestrator, io, saved)));
            }
            Tables tables = new Tables(opened, Map.of(), release);
            done = true;
            return tables;
        } finally {
            if (!done) {
                opened.forEach(table -> table.rows().close());
                release.run();
            }
        }
    }
}
