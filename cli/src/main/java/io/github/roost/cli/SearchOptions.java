package io.github.roost.cli;

import io.github.roost.server.input.VectorInput;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options shared by the {@code search} commands. */
final class SearchOptions {
    static final int MAX_IN_FLIGHT = 1_000_000;
    private static final int MAX_SECONDS = 86_400;

    @Option(
            names = "--base",
            paramLabel = "FILE",
            description = "The vectors to build a table from: " + VectorInput.FORMATS + ".")
    @Nullable
    Path base;

    @Option(
            names = "--table",
            paramLabel = "TABLE",
            description = "Instead of --base: a table saved by roost build or by a program.")
    @Nullable
    String table;

    @Option(
            names = "--query",
            required = true,
            paramLabel = "FILE",
            description = "The queries, a file as for --base; in an hdf5 file the dataset test.")
    @SuppressWarnings("NullAway.Init")
    Path query;

    @Option(
            names = "--k",
            required = true,
            split = ",",
            paramLabel = "K",
            description = "Neighbors per query, from 1 to the number of rows, at most 10,000.")
    List<Integer> k = List.of();

    @Option(
            names = "--metric",
            paramLabel = "M",
            description = "With --base: squared_l2, inner_product or cosine; default the metric of an hdf5 file, else"
                    + " squared_l2.")
    private @Nullable Metric metric;

    @Mixin
    final SkipZeroOption zeros = new SkipZeroOption();

    @Option(
            names = "--in-flight",
            paramLabel = "N",
            defaultValue = "64",
            description = "Queries in flight; default ${DEFAULT-VALUE}.")
    int inFlight;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            defaultValue = "2",
            description = "Warm-up before each measurement; default ${DEFAULT-VALUE}.")
    private double warmUpSeconds;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "Time of each measurement, at least 0.1, and all queries once; default ${DEFAULT-VALUE}.")
    private double seconds;

    @Option(
            names = "--truth",
            paramLabel = "FILE",
            description = "True neighbors, one row per query: ivecs, or the dataset neighbors of an hdf5 file. Prints"
                    + " recall@K, counted by ordinal.")
    @Nullable
    Path truth;

    @Option(
            names = "--out",
            paramLabel = "R.ivecs",
            description = "Write the ordinals found, K per query, nearest first; -1 for missing ones.")
    @Nullable
    Path out;

    @Option(names = "--json", description = "Print one JSON object per line, for each K and effort.")
    boolean json;

    void check() throws IOException {
        if ((base == null) == (table == null)) {
            throw new CommandFailure("--base or --table must be given, got " + (base == null ? "neither" : "both"));
        }
        if (table != null && metric != null) {
            throw new CommandFailure("--metric must be left out with --table, which knows its own, got " + metric);
        }
        for (int one : k) {
            Options.require("--k", one, 1, Vectors.MAX_NEIGHBORS);
        }
        Options.require("--in-flight", inFlight, 1, MAX_IN_FLIGHT);
        requireSeconds("--warm-up", warmUpSeconds, 0);
        requireSeconds("--seconds", seconds, .1);
        if (out != null && k.size() > 1) {
            throw new CommandFailure("--k must be one value with --out, got " + k.size());
        }
        if (out != null) {
            OutputFile.requireOther("--out", out, "--base", base);
            OutputFile.requireOther("--out", out, "--table", table == null ? null : Path.of(table));
            OutputFile.requireOther("--out", out, "--query", query);
            OutputFile.requireOther("--out", out, "--truth", truth);
        }
    }

    /** The vectors, if no table is given. */
    Path base() {
        if (base == null) {
            throw new IllegalStateException("checked before");
        }
        return base;
    }

    Metric metric() throws IOException {
        return metric == null ? VectorInput.metric(base()) : metric;
    }

    Duration warmUp() {
        return Duration.ofNanos((long) (warmUpSeconds * 1e9));
    }

    Duration measured() {
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    int maxNeighbors() {
        return k.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    private static void requireSeconds(String option, double value, double min) {
        // Written so that NaN fails too.
        if (!(value >= min && value <= MAX_SECONDS)) {
            throw new CommandFailure(
                    option + " must be between " + min + " and " + MAX_SECONDS + " seconds, got " + value);
        }
    }
}
