package io.github.roost.examples.cli;

import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.vector.TableBuild;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.core.vector.VectorTable;
import java.io.IOException;
import java.util.List;

/** Which index {@code search} builds or opens, and with which efforts it searches. */
interface IndexPlan {
    /** What an effort is: {@code ef}, {@code nprobe} or {@code visited}. */
    String effortName();

    /** The efforts that the command line names; none for the default. */
    List<Integer> asked();

    /** Refuses options that no table makes right; called before anything is read. */
    void check();

    /** Refuses options that do not fit a table of so many rows that is to be built. */
    void fit(int rows);

    /** Begins to build a table whose ids are the rows' numbers. */
    TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, VectorSource rows);

    /** Opens a table by its file, or whatever else {@code --table} may name. */
    VectorTable open(Orchestrator orchestrator, String table) throws IOException;

    /** The efforts to search with, each at most {@link #widest}. */
    List<Integer> efforts(VectorTable table, int k);

    /** The effort at which the whole table is looked at. */
    int widest(VectorTable table);
}
