package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.io.BlockIo;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The index of {@code roost search disk}. */
@Command(description = "Searches a table on disk, once for each --k and --width.")
final class DiskPlan extends IndexPlan {
    private @Nullable BlockIo io;

    @Option(
            names = "--width",
            split = ",",
            paramLabel = "N",
            description = "Candidates kept by a search, at least K; default the larger of 100 and 2 K.")
    void ask(List<Integer> efforts) {
        requested = efforts;
    }

    @Override
    String effortName() {
        return "width";
    }

    @Override
    void check(boolean isBuilt) {
        if (isBuilt) {
            throw new CommandFailure("--table must be given in the place of --base: roost build disk makes one");
        }
        requested.forEach(width -> Options.require("--width", width, 1, Vectors.MAX_EF));
    }

    @Override
    TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows) {
        throw new IllegalStateException("refused by check");
    }

    @Override
    VectorTable open(Orchestrator orchestrator, String table) throws IOException {
        BlockIo opened = BlockIo.builder(orchestrator).build();
        io = opened;
        return DiskTable.openReadOnly(orchestrator, opened, "base", Path.of(table));
    }

    @Override
    void close() {
        if (io != null) {
            io.close();
        }
    }
}
