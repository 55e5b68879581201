package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.simulator.options.Options;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The index of {@code roost search hnsw}. */
@Command(description = "Searches an HNSW table or a saved live table, once for each --k and --ef.")
final class HnswPlan extends IndexPlan {
    @Mixin
    private final HnswBuildOptions build = new HnswBuildOptions();

    @Option(
            names = "--ef",
            split = ",",
            paramLabel = "N",
            description = "Candidates kept by a search (ef), at least K; default the larger of 100 and 2 K.")
    void ask(List<Integer> efforts) {
        requested = efforts;
    }

    @Override
    String effortName() {
        return "ef";
    }

    @Override
    void check(boolean isBuilt) {
        build.check();
        requested.forEach(ef -> Options.require("--ef", ef, 1, Vectors.MAX_EF));
    }

    @Override
    TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows) {
        return build.start(orchestrator, metric, rows);
    }

    @Override
    VectorTable open(Orchestrator orchestrator, String table) throws IOException {
        Path file = Path.of(table);
        if (TableFormat.of(file).filter(LiveTable.FORMAT::equals).isPresent()) {
            return LiveTable.open(orchestrator, "base", file);
        }
        return HnswTable.open(orchestrator, "base", file);
    }
}
