package io.github.roost.bench.remote;

import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of {@code bench remote}. */
final class RemoteOptions {
    @Option(names = "--rows", paramLabel = "N", description = "Generated rows; default 200000.")
    int rows = 200_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Dimension of the rows; default 128.")
    int dimension = 128;

    @Option(names = "--partitions", paramLabel = "N", description = "Partitions; default 160.")
    int partitions = 160;

    @Option(names = "--batch", paramLabel = "N", description = "Queries per batch; default 5000.")
    int batch = 5_000;

    @Option(names = "--visited", paramLabel = "N", description = "Partitions visited per query; default 5.")
    int visited = 5;

    @Option(names = "--k", paramLabel = "N", description = "Neighbors per query; default 10.")
    int k = 10;

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default 3.")
    int rounds = 3;

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

    @Option(
            names = "--folder",
            paramLabel = "DIR",
            description = "Folder for the pool; default /dev/shm, or the temporary folder if that does not exist.")
    Path folder = Files.isDirectory(Path.of("/dev/shm"))
            ? Path.of("/dev/shm")
            : Path.of(System.getProperty("java.io.tmpdir"));

    /** Throws if a value is out of range. */
    void check() {
        Options.require("--rows", rows, 1_000, 100_000_000);
        Options.require("--dimension", dimension, 1, 4_096);
        Options.require("--partitions", partitions, 1, Math.min(10_000, rows));
        Options.require("--batch", batch, 1, 1_000_000);
        Options.require("--visited", visited, 1, partitions);
        Options.require("--k", k, 1, 1_000);
        Options.require("--rounds", rounds, 1, 1_000);
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
