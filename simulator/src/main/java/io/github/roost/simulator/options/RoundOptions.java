package io.github.roost.simulator.options;

import java.time.Duration;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code --rounds} and {@code --slice-millis} of a benchmark whose contenders take turns. */
public final class RoundOptions {
    private final @Mixin NumberOption count;

    @Option(
            names = "--slice-millis",
            paramLabel = "N",
            description = "Time per measurement and round; default ${DEFAULT-VALUE}.")
    private int sliceMillis;

    /** Creates the options with their defaults. */
    public RoundOptions(int count, int sliceMillis) {
        this.count = NumberOption.rounds(count, 10_000);
        this.sliceMillis = sliceMillis;
    }

    /** Throws if a value is out of range. */
    public void check() {
        NumberOption.check(count);
        Options.require("--slice-millis", sliceMillis, 1, 60_000);
    }

    /** The number of measured rounds. */
    public int count() {
        return count.value();
    }

    /** The time per measurement and round. */
    public Duration slice() {
        return Duration.ofMillis(sliceMillis);
    }
}
