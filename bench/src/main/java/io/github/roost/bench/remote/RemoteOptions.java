package io.github.roost.bench.remote;

import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.FolderOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of {@code bench remote}. */
final class RemoteOptions {
    private static final Path SHARED = Path.of("/dev/shm");

    final @Mixin NumberOption rows = NumberOption.rows(200_000, 1_000, 100_000_000);
    final @Mixin NumberOption dimension = NumberOption.dimension(128, 1, 4_096);

    @Option(names = "--partitions", paramLabel = "N", description = "Partitions; default 160.")
    int partitions = 160;

    @Option(names = "--batch", paramLabel = "N", description = "Queries per batch; default 5000.")
    int batch = 5_000;

    @Option(names = "--visited", paramLabel = "N", description = "Partitions visited per query; default 5.")
    int visited = 5;

    final @Mixin NumberOption k = NumberOption.k(1_000);
    final @Mixin NumberOption rounds = NumberOption.rounds(3, 1_000);

    @Option(
            names = "--without-graph",
            description = "Leaves out the comparison with one graph of all rows, whose build takes longest.")
    boolean withoutGraph;

    @Option(
            names = "--provider",
            paramLabel = "P",
            description = "mapped (default): the pool's file; ucx: a memory node in its own process, over UCX.")
    String provider = "mapped";

    @Option(
            names = "--transports",
            paramLabel = "T",
            description = "With --provider ucx: tcp (default), posix or another transport of UCX.")
    @Nullable
    String transports;

    final @Mixin FolderOption folder = new FolderOption(Files.isDirectory(SHARED) ? SHARED : FolderOption.TEMPORARY);

    /** Throws if a value is out of range. */
    void check() {
        NumberOption.check(rows, dimension, k, rounds);
        Options.require("--partitions", partitions, 1, Math.min(10_000, rows.value()));
        Options.require("--batch", batch, 1, 1_000_000);
        Options.require("--visited", visited, 1, partitions);
        if (!provider.equals("mapped") && !provider.equals("ucx")) {
            throw new CommandFailure("--provider must be mapped or ucx, got " + provider);
        }
        if (transports != null && provider.equals("mapped")) {
            throw new CommandFailure("--transports must be left out without --provider ucx, got " + transports);
        }
    }

    /** Makes the pool of a file reachable for tables. */
    PoolAccess reach(Path file) throws IOException {
        return provider.equals("ucx")
                ? UcxNodeProcess.expose(file, transports == null ? "tcp" : transports)
                : PoolAccess.mapped(file);
    }
}
