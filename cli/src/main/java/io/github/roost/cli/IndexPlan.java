package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.util.List;

/** The index that {@code search} builds or opens, with its options, and the efforts of its searches. */
abstract class IndexPlan {
    private static final int MIN_DEFAULT_CANDIDATES = 100;

    /** The efforts given on the command line; empty for the default. */
    List<Integer> requested = List.of();

    /** Name of the effort: {@code ef}, {@code nprobe}, {@code width} or {@code visited}. */
    abstract String effortName();

    /**
     * Rejects options that are invalid for every table; called before any file is read.
     *
     * @param isBuilt whether the table is to be built, not opened
     */
    abstract void check(boolean isBuilt);

    /** Rejects options that are invalid for a table to be built of this many rows. */
    void fit(int rows) {}

    /** Begins to build a table whose ids are the row numbers. */
    abstract TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows);

    /** Opens a table by its file, or another value of {@code --table}. */
    abstract VectorTable open(Orchestrator orchestrator, String table) throws IOException;

    /** The efforts to search with, each at most {@link #widest}: here numbers of candidates. */
    List<Integer> efforts(VectorTable table, int k) {
        List<Integer> wanted = requested.isEmpty() ? List.of(Math.max(MIN_DEFAULT_CANDIDATES, 2 * k)) : requested;
        return wanted.stream()
                .map(candidates -> Math.min(Math.max(candidates, k), widest(table)))
                .distinct()
                .toList();
    }

    /** The effort that searches the whole table. */
    int widest(VectorTable table) {
        return Math.min(table.size(), Vectors.MAX_EF);
    }

    /** Closes what {@link #open} has opened besides the table. */
    void close() {}

    /** Rejects efforts beyond the parts of a table. */
    final void requireAtMost(String parts, int count) {
        for (int effort : requested) {
            if (effort > count) {
                throw new CommandFailure(
                        "--" + effortName() + " must be at most " + parts.formatted(count) + ", got " + effort);
            }
        }
    }
}
