package io.github.roost.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LayoutChoice;
import io.github.roost.server.input.VectorInput;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options shared by the {@code build} commands, and their implementation. */
final class BuildOptions {
    @Option(
            names = "--base",
            required = true,
            paramLabel = "FILE",
            description = "The vectors: " + VectorInput.FORMATS + ", recognised by the file's extension.")
    @SuppressWarnings("NullAway.Init")
    private Path base;

    @Option(names = "--out", required = true, paramLabel = "TABLE", description = "File to save the table to.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Option(
            names = "--metric",
            paramLabel = "M",
            description = "squared_l2, inner_product or cosine; default the metric of an hdf5 file, else squared_l2.")
    private @Nullable Metric metric;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    /** Begins a build. */
    @FunctionalInterface
    interface Start {
        TableBuild<? extends VectorTable> start(
                Orchestrator orchestrator, String name, Metric metric, VectorSource rows);
    }

    /** Builds a table directly in a file. */
    @FunctionalInterface
    interface Direct {
        TableStats build(Orchestrator orchestrator, Metric metric, VectorSource rows, Path file) throws IOException;
    }

    /**
     * The result of a build.
     *
     * @param seconds time of the build
     * @param saveSeconds time to save the table
     * @param table the table's statistics
     * @param choice the choice that the builder has made, and its reason; null if there was none
     */
    private record Built(
            double seconds,
            double saveSeconds,
            TableStats table,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String choice) {
        static @Nullable String choice(VectorTable table) {
            if (!(table instanceof HnswTable graph)) {
                return null;
            }
            LayoutChoice choice = graph.layoutChoice();
            return choice.layout() + ": " + choice.reason();
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

    int run(Streams streams, Start start) throws IOException, InterruptedException {
        try (OutputFile file = OutputFile.prepare("--out", out);
                VectorInput input = VectorInput.rows(base);
                Orchestrator orchestrator = Orchestrator.builder().build()) {
            VectorSource rows = input.vectors();
            Metric measure = metric();
            long began = System.nanoTime();
            try (VectorTable table =
                    TableBuilding.await(streams, start.start(orchestrator, "base", measure, rows), rows.size())) {
                double seconds = (System.nanoTime() - began) / 1e9;
                long saving = System.nanoTime();
                file.write(table::save);
                double saved = (System.nanoTime() - saving) / 1e9;
                print(streams, new Built(seconds, saved, table.stats(), Built.choice(table)));
            }
        }
        return 0;
    }

    /** Builds a table directly in its file; there is no separate time to save it. */
    int runDirect(Streams streams, Direct direct) throws IOException {
        try (OutputFile file = OutputFile.prepare("--out", out);
                VectorInput input = VectorInput.rows(base);
                Orchestrator orchestrator = Orchestrator.builder().build()) {
            VectorSource rows = input.vectors();
            Metric measure = metric();
            long began = System.nanoTime();
            TableStats[] table = new TableStats[1];
            file.write(draft -> table[0] = direct.build(orchestrator, measure, rows, draft));
            print(streams, new Built((System.nanoTime() - began) / 1e9, 0, table[0], null));
        }
        return 0;
    }

    private Metric metric() throws IOException {
        return metric == null ? VectorInput.metric(base) : metric;
    }

    private void print(Streams streams, Built built) throws IOException {
        streams.out().println(json ? new ObjectMapper().writeValueAsString(built) : built.text(out));
    }
}
