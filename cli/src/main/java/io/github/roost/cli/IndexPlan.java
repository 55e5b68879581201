package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.util.List;

/** The index that {@code search} builds or opens, and the efforts of its searches. */
interface IndexPlan {
    /** Name of the effort: {@code ef}, {@code nprobe} or {@code visited}. */
    String effortName();

    /** The efforts given on the command line; empty for the default. */
    List<Integer> asked();

    /** Rejects options that are invalid for every table; called before any file is read. */
    void check();

    /** Rejects options that are invalid for a table to be built of this many rows. */
    void fit(int rows);

    /** Begins to build a table whose ids are the row numbers. */
    TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, VectorSource rows);

    /** Opens a table by its file, or another value of {@code --table}. */
    VectorTable open(Orchestrator orchestrator, String table) throws IOException;

    /** The efforts to search with, each at most {@link #widest}. */
    List<Integer> efforts(VectorTable table, int k);

    /** The effort that searches the whole table. */
    int widest(VectorTable table);
}
