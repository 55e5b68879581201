package io.github.roost.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorTable;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The result of a build.
 *
 * @param seconds time of the build
 * @param saveSeconds time to save the table
 * @param table the table's statistics
 * @param choice the choice that the builder has made, and its reason; null if there was none
 */
record Built(
        double seconds,
        double saveSeconds,
        TableStats table,

        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String choice) {
    static Built of(VectorTable table, long buildNanos, long saveNanos) {
        String choice = null;
        if (table instanceof HnswTable graph) {
            GraphLayout.Choice layout = graph.layoutChoice();
            choice = layout.layout() + ": " + layout.reason();
        }
        return new Built(buildNanos / 1e9, saveNanos / 1e9, table.stats(), choice);
    }

    String text(Path file) {
        return String.format(
                Locale.ROOT,
                "built in %.1f s: %,d rows x %d, %.1f MiB, %.0f bytes per row%n%ssaved as %s in %.1f s",
                seconds,
                table.rows(),
                table.dimension(),
                table.bytes() / 1048576.0,
                (double) table.bytes() / table.rows(),
                choice == null ? "" : "layout " + choice + System.lineSeparator(),
                file,
                saveSeconds);
    }
}
