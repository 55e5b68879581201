package io.github.roost.bench.disk;

import io.github.roost.index.disk.DiskTable;
import io.github.roost.simulator.options.FolderOption;
import io.github.roost.simulator.options.LevelOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every measurement of {@code bench stalls}. */
final class StallOptions {
    final @Mixin FolderOption folder = new FolderOption(FolderOption.TEMPORARY);
    final @Mixin NumberOption rows = NumberOption.rows(100_000, 1_000, 100_000_000);
    final @Mixin NumberOption rounds = NumberOption.rounds(5, 10_000);

    @Option(
            names = "--slice-millis",
            paramLabel = "N",
            description = "Time per measurement; default 1000, with --ladder 3000.")
    private @Nullable Integer sliceMillis;

    @Option(
            names = "--lead-in-millis",
            paramLabel = "N",
            description = "Warm-up before each measurement; default 0, with --ladder 2000.")
    private @Nullable Integer leadInMillis;

    final @Mixin LevelOption level = new LevelOption(null);

    @Option(names = "--pipelined", description = "Pipelined searches; default beam searches.")
    private boolean pipelined;

    /**
     * Throws if a value is out of range.
     *
     * @param defaultSlice used without {@code --slice-millis}
     * @param defaultLeadIn used without {@code --lead-in-millis}
     */
    void check(int defaultSlice, int defaultLeadIn) {
        sliceMillis = Objects.requireNonNullElse(sliceMillis, defaultSlice);
        leadInMillis = Objects.requireNonNullElse(leadInMillis, defaultLeadIn);
        NumberOption.check(rows, rounds);
        Options.require("--slice-millis", sliceMillis, 1, 60_000);
        Options.require("--lead-in-millis", leadInMillis, 0, 60_000);
    }

    /** Time of each way per round. */
    Duration slice() {
        return Duration.ofMillis(Objects.requireNonNull(sliceMillis));
    }

    /** Time before each measurement. */
    Duration leadIn() {
        return Duration.ofMillis(Objects.requireNonNull(leadInMillis));
    }

    /** How searches read. */
    DiskTable.ReadMode mode() {
        return pipelined ? DiskTable.ReadMode.PIPELINED : DiskTable.ReadMode.BEAM;
    }
}
