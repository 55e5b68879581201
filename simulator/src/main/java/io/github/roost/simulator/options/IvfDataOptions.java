package io.github.roost.simulator.options;

import io.github.roost.core.MappingId;
import io.github.roost.simulator.measure.Workload;
import java.io.IOException;
import picocli.CommandLine.Option;

/** The data options of the IVF benchmarks. */
public final class IvfDataOptions {
    private static final int QUERIES = 1_000;
    private static final int DIMENSION = 128;

    /** The data to search. */
    public enum Data {
        packages,
        mixture
    }

    @Option(
            names = "--data",
            paramLabel = "packages|mixture",
            description = "Debian's packages (the default), or a mixture of Gaussians.")
    private Data data = Data.packages;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the mixture; default 1000000.")
    private int rows = 1_000_000;

    @Option(names = "--nlist", paramLabel = "N", description = "Number of lists; default 256, for the mixture 1024.")
    private int nlist;

    /** Throws if a value is out of range. */
    public void check() {
        Options.require("--rows", rows, 1_000, 10_000_000);
        Options.require("--nlist", nlist(), 1, MappingId.MAX_PER_ORCHESTRATOR);
    }

    /** Whether the rows are drawn. */
    public boolean mixture() {
        return data == Data.mixture;
    }

    /** The number of lists. */
    public int nlist() {
        return nlist == 0 ? (mixture() ? 1_024 : 256) : nlist;
    }

    /** The rows and queries of these options. */
    public Workload workload() throws IOException {
        if (mixture()) {
            return Workload.mixture(rows, QUERIES, DIMENSION, 1_000, 42);
        }
        return Workload.packages(RoostHome.packages(), QUERIES);
    }
}
