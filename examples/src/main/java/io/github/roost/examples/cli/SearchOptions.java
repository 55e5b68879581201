package io.github.roost.examples.cli;

import io.github.roost.core.Vectors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that {@code search hnsw} and {@code search ivf} share. */
final class SearchOptions {
    static final int MOST_IN_FLIGHT = 1_000_000;

    @Option(names = "--base", required = true, paramLabel = "B.fvecs", description = "The vectors to search among.")
    @SuppressWarnings("NullAway.Init")
    Path base;

    @Option(names = "--query", required = true, paramLabel = "Q.fvecs", description = "The queries.")
    @SuppressWarnings("NullAway.Init")
    Path query;

    @Option(
            names = "--k",
            required = true,
            paramLabel = "K",
            description = "Neighbours a query, from 1 to the base's size, at most 10,000.")
    int k;

    @Option(
            names = "--in-flight",
            paramLabel = "N",
            defaultValue = "64",
            description = "Queries under way at a time; default ${DEFAULT-VALUE}.")
    int inFlight;

    @Option(
            names = "--truth",
            paramLabel = "T.ivecs",
            description = "True neighbours, a row a query: prints recall@K, counted by ordinal.")
    @Nullable
    Path truth;

    @Option(
            names = "--out",
            paramLabel = "R.ivecs",
            description = "Write the ordinals found, K a query, nearest first.")
    @Nullable
    Path out;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    void check() throws IOException {
        requireBetween("--k", k, 1, Vectors.MOST_NEIGHBORS);
        requireBetween("--in-flight", inFlight, 1, MOST_IN_FLIGHT);
        if (out != null && Files.exists(out)) {
            refuseToOverwrite(out, "--base", base);
            refuseToOverwrite(out, "--query", query);
            refuseToOverwrite(out, "--truth", truth);
        }
    }

    private static void refuseToOverwrite(Path out, String option, @Nullable Path input) throws IOException {
        if (input != null && Files.exists(input) && Files.isSameFile(out, input)) {
            throw new CommandFailure("--out " + out + " is the file of " + option + ", which it would overwrite");
        }
    }

    static void requireBetween(String option, int value, int least, int most) {
        if (value < least || value > most) {
            throw new CommandFailure(option + " must be "
                    + (most == Integer.MAX_VALUE ? "at least " + least : "between " + least + " and " + most) + ", got "
                    + value);
        }
    }
}
