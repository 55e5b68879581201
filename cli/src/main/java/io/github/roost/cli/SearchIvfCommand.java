package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code roost search ivf}. */
@Command(name = "ivf", description = "Searches an IVF table, once for each --k and --nprobe.")
final class SearchIvfCommand implements Callable<Integer>, IndexPlan {
    @ParentCommand
    private @SuppressWarnings("NullAway.Init") SearchCommand parent;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final SearchOptions options = new SearchOptions();

    @Mixin
    private final IvfBuildOptions build = new IvfBuildOptions();

    @Option(
            names = "--nprobe",
            split = ",",
            paramLabel = "N",
            description = "Lists scanned per search, more if they hold fewer than K vectors; default the table's, which"
                    + " its build measured.")
    private List<Integer> asked = List.of();

    @Override
    public Integer call() throws IOException, InterruptedException {
        return new SearchRun(options, this, parent.streams()).run();
    }

    @Override
    public String effortName() {
        return "nprobe";
    }

    @Override
    public List<Integer> asked() {
        return asked;
    }

    @Override
    public void check() {
        build.check();
        for (int nprobe : asked) {
            IvfBuildOptions.requireLists("--nprobe", nprobe);
            build.requireProbes(nprobe);
        }
    }

    @Override
    public void fit(int rows) {
        requireAtMost(build.nlist(rows));
    }

    private void requireAtMost(int nlist) {
        for (int nprobe : asked) {
            if (nprobe > nlist) {
                throw new CommandFailure("--nprobe must be at most --nlist " + nlist + ", got " + nprobe);
            }
        }
    }

    @Override
    public TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, VectorSource rows) {
        IvfTable.Builder builder = build.builder("base", metric, rows.size());
        // A given default saves its measurement; then no search here uses it.
        return (asked.isEmpty() ? builder : builder.nprobe(asked.getFirst()))
                .start(orchestrator, SearchOptions.ids(rows), rows);
    }

    @Override
    public VectorTable open(Orchestrator orchestrator, String table) throws IOException {
        return IvfTable.open(orchestrator, "base", Path.of(table));
    }

    @Override
    public List<Integer> efforts(VectorTable table, int k) {
        requireAtMost(widest(table));
        return asked.isEmpty() ? List.of(((IvfTable) table).nprobe()) : asked;
    }

    @Override
    public int widest(VectorTable table) {
        return ((IvfTable) table).nlist();
    }
}
