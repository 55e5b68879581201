package io.github.roost.simulator.options;

import picocli.CommandLine.Option;

/** {@code --data}: the rows that are searched. */
public final class DataOption {
    /** The data sets. */
    public enum Data {
        packages,
        mixture
    }

    @Option(
            names = "--data",
            paramLabel = "packages|mixture",
            description = "Debian's packages, whose vectors are 8-bit numbers, or a mixture of Gaussians; default"
                    + " ${DEFAULT-VALUE}.")
    private Data data;

    /** Creates the option with its default. */
    public DataOption(Data data) {
        this.data = data;
    }

    /** The name of the data set. */
    public String name() {
        return data.name();
    }

    /** Whether the rows are drawn from a mixture. */
    public boolean isMixture() {
        return data == Data.mixture;
    }
}
