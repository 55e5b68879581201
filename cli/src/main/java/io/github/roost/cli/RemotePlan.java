package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.index.remote.ucx.UcxMemory;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.simulator.options.Options;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The index of {@code roost search remote}. */
@Command(
        description = "Searches a pool of partitions, with or without a memory node for it, once for each --k"
                + " and --visited. --table is the pool's file, or the address of a node, ucx://HOST:PORT.")
final class RemotePlan extends IndexPlan {
    @Mixin
    private final RemoteBuildOptions build = new RemoteBuildOptions();

    @Option(
            names = "--visited",
            split = ",",
            paramLabel = "N",
            description = "Partitions visited per search; default the number chosen by the pool's build.")
    void ask(List<Integer> efforts) {
        requested = efforts;
    }

    @Option(names = "--cache-mib", paramLabel = "N", description = "Memory for fetched partitions; default 1024.")
    private int cacheMib = 1_024;

    @Override
    String effortName() {
        return "visited";
    }

    @Override
    void check(boolean isBuilt) {
        build.check();
        Options.require("--cache-mib", cacheMib, 1, 1_000_000);
        for (int visited : requested) {
            RemoteBuildOptions.requirePartitions("--visited", visited);
        }
    }

    @Override
    void fit(int rows) {
        requireAtMost("the %d partitions", build.partitions(rows));
    }

    private RemoteTable.Builder table() {
        return RemoteTable.builder().cacheBytes((long) cacheMib << 20);
    }

    @Override
    TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows) {
        return build.start(orchestrator, metric, rows, table());
    }

    @Override
    VectorTable open(Orchestrator orchestrator, String table) throws IOException {
        if (table.startsWith(MemoryNodeCommand.UCX)) {
            return table().openReadOnly(orchestrator, "base", new UcxMemory(), table);
        }
        Path pool = Path.of(table).toAbsolutePath();
        Path folder = Objects.requireNonNull(pool.getParent(), "the file must have a folder");
        return table().openReadOnly(
                        orchestrator,
                        "base",
                        RemoteMemory.mapped(folder),
                        pool.getFileName().toString());
    }

    @Override
    List<Integer> efforts(VectorTable table, int k) {
        requireAtMost("the %d partitions", widest(table));
        return requested.isEmpty() ? List.of(((RemoteTable) table).visitedByDefault(k)) : requested;
    }

    @Override
    int widest(VectorTable table) {
        return table.stats().parts();
    }
}
