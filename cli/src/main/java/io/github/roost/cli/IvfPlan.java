package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The index of {@code roost search ivf}. */
@Command(description = "Searches an IVF table, once for each --k and --nprobe.")
final class IvfPlan extends IndexPlan {
    @Mixin
    private final IvfBuildOptions build = new IvfBuildOptions();

    @Option(
            names = "--nprobe",
            split = ",",
            paramLabel = "N",
            description = "Lists scanned per search, more if they hold fewer than K vectors; default the table's, which"
                    + " its build measured.")
    void ask(List<Integer> efforts) {
        requested = efforts;
    }

    @Override
    String effortName() {
        return "nprobe";
    }

    @Override
    void check(boolean isBuilt) {
        build.check();
        for (int nprobe : requested) {
            IvfBuildOptions.requireLists("--nprobe", nprobe);
            build.requireProbes(nprobe);
        }
    }

    @Override
    void fit(int rows) {
        requireAtMost("--nlist %d", build.nlist(rows));
    }

    @Override
    TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows) {
        IvfTable.Builder builder = build.builder(metric, rows.size());
        // A given default saves its measurement; then no search here uses it.
        return (requested.isEmpty() ? builder : builder.nprobe(requested.getFirst()))
                .start(orchestrator, rows.ids(), rows.vectors());
    }

    @Override
    VectorTable open(Orchestrator orchestrator, String table) throws IOException {
        return IvfTable.open(orchestrator, "base", Path.of(table));
    }

    @Override
    List<Integer> efforts(VectorTable table, int k) {
        requireAtMost("--nlist %d", widest(table));
        return requested.isEmpty() ? List.of(((IvfTable) table).nprobe(k)) : requested;
    }

    @Override
    int widest(VectorTable table) {
        return ((IvfTable) table).nlist();
    }
}
