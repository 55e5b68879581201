package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.MappedMemory;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.index.remote.ucx.UcxMemory;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code roost search remote}. */
@Command(
        name = "remote",
        description = "Searches a pool of partitions, with or without a memory node for it, once for each --k"
                + " and --visited. --table is the pool's file, or the address of a node, ucx://HOST:PORT.")
final class SearchRemoteCommand implements Callable<Integer>, IndexPlan {
    @ParentCommand
    private @SuppressWarnings("NullAway.Init") SearchCommand parent;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final SearchOptions options = new SearchOptions();

    @Mixin
    private final RemoteBuildOptions build = new RemoteBuildOptions();

    @Option(
            names = "--visited",
            split = ",",
            paramLabel = "N",
            description = "Partitions visited per search; default the number chosen by the pool's build.")
    private List<Integer> asked = List.of();

    @Option(names = "--cache-mib", paramLabel = "N", description = "Memory for fetched partitions; default 1024.")
    private int cacheMib = 1_024;

    @Override
    public Integer call() throws IOException, InterruptedException {
        return new SearchRun(options, this, parent.streams()).run();
    }

    @Override
    public String effortName() {
        return "visited";
    }

    @Override
    public List<Integer> asked() {
        return asked;
    }

    @Override
    public void check() {
        build.check();
        SearchOptions.requireBetween("--cache-mib", cacheMib, 1, 1_000_000);
        for (int visited : asked) {
            RemoteBuildOptions.requirePartitions("--visited", visited);
        }
    }

    @Override
    public void fit(int rows) {
        requireAtMost(build.partitions(rows));
    }

    private void requireAtMost(int partitions) {
        for (int visited : asked) {
            if (visited > partitions) {
                throw new CommandFailure("--visited must be at most the " + partitions + " partitions, got " + visited);
            }
        }
    }

    private RemoteTable.Builder table() {
        return RemoteTable.builder().cacheBytes((long) cacheMib << 20);
    }

    @Override
    public TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, VectorSource rows) {
        return build.start(orchestrator, metric, rows, table());
    }

    @Override
    public VectorTable open(Orchestrator orchestrator, String table) throws IOException {
        if (table.startsWith(MemoryNodeCommand.UCX)) {
            return table().openReadOnly(orchestrator, "base", new UcxMemory(), table);
        }
        Path pool = Path.of(table).toAbsolutePath();
        Path folder = Objects.requireNonNull(pool.getParent(), "the file must have a folder");
        return table().openReadOnly(
                        orchestrator,
                        "base",
                        new MappedMemory(folder),
                        pool.getFileName().toString());
    }

    @Override
    public List<Integer> efforts(VectorTable table, int k) {
        requireAtMost(widest(table));
        return asked.isEmpty() ? List.of(((RemoteTable) table).visitedByDefault()) : asked;
    }

    @Override
    public int widest(VectorTable table) {
        return table.stats().parts();
    }
}
