package io.github.roost.simulator.options;

import picocli.CommandLine.Option;

/** {@code --seed} of a benchmark's random rows, queries and operations. */
public final class SeedOption {
    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "Seed of all that is random; default 42, of live the time.")
    private long seed;

    /** Creates the option with its default. */
    public SeedOption(long seed) {
        this.seed = seed;
    }

    /** The seed. */
    public long value() {
        return seed;
    }
}
