package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code roost search disk}. */
@Command(name = "disk", description = "Searches a table on disk, once for each --k and --width.")
final class SearchDiskCommand implements Callable<Integer>, IndexPlan {
    private static final int MIN_DEFAULT_WIDTH = 100;

    @ParentCommand
    private @SuppressWarnings("NullAway.Init") SearchCommand parent;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final SearchOptions options = new SearchOptions();

    @Option(
            names = "--width",
            split = ",",
            paramLabel = "N",
            description = "Candidates kept by a search, at least K; default the larger of 100 and 2 K.")
    private List<Integer> asked = List.of();

    private @Nullable BlockIo io;

    @Override
    public Integer call() throws IOException, InterruptedException {
        try {
            return new SearchRun(options, this, parent.streams()).run();
        } finally {
            if (io != null) {
                io.close();
            }
        }
    }

    @Override
    public String effortName() {
        return "width";
    }

    @Override
    public List<Integer> asked() {
        return asked;
    }

    @Override
    public void check() {
        if (options.base != null) {
            throw new CommandFailure("--table must be given in the place of --base: roost build disk makes one");
        }
        asked.forEach(width -> SearchOptions.requireBetween("--width", width, 1, Vectors.MAX_EF));
    }

    @Override
    public void fit(int rows) {
        // The options do not depend on the number of rows.
    }

    @Override
    public TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, VectorSource rows) {
        throw new IllegalStateException("refused by check");
    }

    @Override
    public VectorTable open(Orchestrator orchestrator, String table) throws IOException {
        BlockIo opened = BlockIo.builder(orchestrator).build();
        io = opened;
        return DiskTable.openReadOnly(orchestrator, opened, "base", Path.of(table));
    }

    @Override
    public List<Integer> efforts(VectorTable table, int k) {
        int widest = widest(table);
        List<Integer> wanted = asked.isEmpty() ? List.of(Math.max(MIN_DEFAULT_WIDTH, 2 * k)) : asked;
        return wanted.stream()
                .map(width -> Math.min(Math.max(width, k), widest))
                .distinct()
                .toList();
    }

    @Override
    public int widest(VectorTable table) {
        return Math.min(table.size(), Vectors.MAX_EF);
    }
}
