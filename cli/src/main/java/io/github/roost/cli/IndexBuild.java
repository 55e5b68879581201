package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;

/** The options for building one kind of index: of {@code build} and of {@code search --base}. */
interface IndexBuild {
    /** Rejects options that are invalid for every table; called before any file is read. */
    void check();

    /** Begins to build a table whose ids are the row numbers. */
    TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows);

    /** Builds a table and saves it in a file. */
    default Built build(Streams streams, Orchestrator orchestrator, Metric metric, NumberedRows rows, Path file)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        try (VectorTable table = TableBuilding.await(streams, start(orchestrator, metric, rows), rows.size())) {
            long saving = System.nanoTime();
            table.save(file);
            return Built.of(table, saving - began, System.nanoTime() - saving);
        }
    }
}
