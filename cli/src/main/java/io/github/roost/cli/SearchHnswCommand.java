package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code roost search hnsw}. */
@Command(name = "hnsw", description = "Searches an HNSW table or a saved live table, once for each --k and --ef.")
final class SearchHnswCommand implements Callable<Integer>, IndexPlan {
    private static final int MIN_DEFAULT_EF = 100;

    @ParentCommand
    private @SuppressWarnings("NullAway.Init") SearchCommand parent;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final SearchOptions options = new SearchOptions();

    @Mixin
    private final HnswBuildOptions build = new HnswBuildOptions();

    @Option(
            names = "--ef",
            split = ",",
            paramLabel = "N",
            description = "Candidates kept by a search (ef), at least K; default the larger of 100 and 2 K.")
    private List<Integer> asked = List.of();

    @Override
    public Integer call() throws IOException, InterruptedException {
        return new SearchRun(options, this, parent.streams()).run();
    }

    @Override
    public String effortName() {
        return "ef";
    }

    @Override
    public List<Integer> asked() {
        return asked;
    }

    @Override
    public void check() {
        build.check();
        asked.forEach(ef -> SearchOptions.requireBetween("--ef", ef, 1, Vectors.MAX_EF));
    }

    @Override
    public void fit(int rows) {
        // The options do not depend on the number of rows.
    }

    @Override
    public TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, VectorSource rows) {
        return build.builder("base", metric).start(orchestrator, SearchOptions.ids(rows), rows);
    }

    @Override
    public VectorTable open(Orchestrator orchestrator, String table) throws IOException {
        Path file = Path.of(table);
        if (TableFormat.of(file).filter(TableFormat.LIVE_HNSW::equals).isPresent()) {
            return LiveTable.open(orchestrator, "base", file);
        }
        return HnswTable.open(orchestrator, "base", file);
    }

    @Override
    public List<Integer> efforts(VectorTable table, int k) {
        int widest = widest(table);
        List<Integer> wanted = asked.isEmpty() ? List.of(Math.max(MIN_DEFAULT_EF, 2 * k)) : asked;
        return wanted.stream()
                .map(ef -> Math.min(Math.max(ef, k), widest))
                .distinct()
                .toList();
    }

    @Override
    public int widest(VectorTable table) {
        return Math.min(table.size(), Vectors.MAX_EF);
    }
}
