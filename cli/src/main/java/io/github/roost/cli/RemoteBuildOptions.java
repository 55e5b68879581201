package io.github.roost.cli;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.PartitionedIndex;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.server.input.NumberedRows;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.github.roost.vector.Metric;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for building a pool: of {@code build remote} and of {@code search remote --base}. */
final class RemoteBuildOptions implements IndexBuild {
    private static final int MAX_PARTITIONS = 10_000;
    private static final int ROWS_PER_PARTITION = 6_250;

    @Option(
            names = "--partitions",
            paramLabel = "N",
            description = "Number of partitions, at most the number of rows; default one per 6250 rows.")
    private @Nullable Integer requested;

    @Option(
            names = "--boundary",
            paramLabel = "SHARE",
            description = "Share of the rows stored in a second partition too, from 0 (default) to 1.")
    private double boundary;

    @Override
    public void check() {
        if (requested != null) {
            requirePartitions("--partitions", requested);
        }
        if (!(boundary >= 0 && boundary <= 1)) {
            throw new CommandFailure("--boundary must be between 0 and 1, got " + boundary);
        }
    }

    static void requirePartitions(String option, int partitions) {
        Options.require(option, partitions, 1, MAX_PARTITIONS);
    }

    /** Number of partitions for a pool of this many rows. */
    int partitions(int rows) {
        if (requested == null) {
            return Math.clamp(rows / ROWS_PER_PARTITION, 1, MAX_PARTITIONS);
        }
        if (requested > rows) {
            throw new CommandFailure("--partitions must be at most the base's size of " + rows + ", got " + requested);
        }
        return requested;
    }

    @Override
    public TableBuild<? extends VectorTable> start(Orchestrator orchestrator, Metric metric, NumberedRows rows) {
        return start(orchestrator, metric, rows, RemoteTable.builder());
    }

    /** Builds the pool in a file that is deleted at the end of the process. */
    TableBuild<? extends VectorTable> start(
            Orchestrator orchestrator, Metric metric, NumberedRows rows, RemoteTable.Builder table) {
        Path file;
        try {
            file = Files.createTempFile("roost-", ".pool");
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        file.toFile().deleteOnExit();
        return PartitionedIndex.builder()
                .metric(metric)
                .partitions(partitions(rows.size()))
                .boundary(boundary)
                .start(orchestrator, "base", rows.ids(), rows.vectors(), file, table);
    }
}
