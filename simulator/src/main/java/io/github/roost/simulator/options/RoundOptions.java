package io.github.roost.simulator.options;

import java.time.Duration;
import picocli.CommandLine.Option;

/** {@code --rounds} and {@code --slice-millis} of a benchmark whose contenders take turns. */
public final class RoundOptions {
    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default ${DEFAULT-VALUE}.")
    private int count;

    @Option(
            names = "--slice-millis",
            paramLabel = "N",
            description = "Time per measurement and round; default ${DEFAULT-VALUE}.")
    private int sliceMillis;

    /** Creates the options with their defaults. */
    public RoundOptions(int count, int sliceMillis) {
        this.count = count;
        this.sliceMillis = sliceMillis;
    }

    /** Throws if a value is out of range. */
    public void check() {
        Options.require("--rounds", count, 1, 10_000);
        Options.require("--slice-millis", sliceMillis, 1, 60_000);
    }

    /** The number of measured rounds. */
    public int count() {
        return count;
    }

    /** The time per measurement and round. */
    public Duration slice() {
        return Duration.ofMillis(sliceMillis);
    }
}
