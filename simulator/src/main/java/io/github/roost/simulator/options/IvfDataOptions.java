package io.github.roost.simulator.options;

import io.github.roost.simulator.measure.Workload;
import java.io.IOException;
import picocli.CommandLine.Mixin;

/** The data options of the IVF benchmarks. */
public final class IvfDataOptions {
    private static final int QUERIES = 1_000;
    private static final int DIMENSION = 128;

    private final @Mixin DataOption data = new DataOption(DataOption.Data.packages);
    private final @Mixin NumberOption rows = NumberOption.rows(1_000_000, 1_000, 10_000_000);
    private final @Mixin NumberOption nlist = NumberOption.nlist();

    /** Throws if a value is out of range. */
    public void check() {
        NumberOption.check(rows, nlist);
    }

    /** Whether the rows are drawn. */
    public boolean mixture() {
        return data.isMixture();
    }

    /** The number of lists. */
    public int nlist() {
        return nlist.value() == 0 ? (mixture() ? 1_024 : 256) : nlist.value();
    }

    /** The rows and queries of these options. */
    public Workload workload() throws IOException {
        if (mixture()) {
            return Workload.mixture(rows.value(), QUERIES, DIMENSION, 1_000, 42);
        }
        return Workload.packages(RoostHome.packages(), QUERIES);
    }
}
