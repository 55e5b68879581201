package io.github.roost.bench.disk;

import io.github.roost.index.disk.DiskTable;
import io.github.roost.simulator.options.Options;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of every measurement of {@code bench stalls}. */
final class StallOptions {
    @Option(names = "--folder", paramLabel = "DIR", description = "Folder for the table; default the temporary folder.")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"));

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the table; default 100,000.")
    private int rows = 100_000;

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default 5.")
    private int rounds = 5;

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

    @Option(
            names = "--level",
            paramLabel = "L3|L2|NUMA|PACKAGE",
            description = "Level of the cache domains for inserts alone and deletes alone; default the machine's.")
    private @Nullable DomainLevel level;

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
        Options.require("--rows", rows, 1_000, 100_000_000);
        Options.require("--rounds", rounds, 1, 10_000);
        Options.require("--slice-millis", sliceMillis, 1, 60_000);
        Options.require("--lead-in-millis", leadInMillis, 0, 60_000);
    }

    /** A folder on the disk to measure; files written there are deleted. */
    Path folder() {
        return folder;
    }

    /** Rows of the table. */
    int rows() {
        return rows;
    }

    /** Measured rounds, after one unmeasured round. */
    int rounds() {
        return rounds;
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

    /** This machine, with its cache domains. */
    Topology machine() {
        TopologyReader reader = TopologyReader.live();
        DomainLevel cut = level;
        return (cut == null ? reader : reader.level(cut)).read();
    }
}
