package io.github.roost.simulator.options;

import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.workload.WorkloadSpec;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a workload that {@code roost sim} simulates and {@code roost bench replay} runs. */
public final class WorkloadOptions {
    @Option(
            names = "--workload",
            paramLabel = "NAME|FILE.json",
            description = "hnsw, ivf, paper-hnsw, paper-ivf, packages-hnsw, packages-ivf, or a JSON file; default"
                    + " ${DEFAULT-VALUE}.")
    private String workload;

    @Option(
            names = "--budget-mib",
            paramLabel = "N",
            description = "Size of all generated tables; default the workload's, of bench replay 64.")
    private int budgetMib;

    @Option(
            names = "--in-flight",
            paramLabel = "N",
            description = "Searches in flight; default the workload's, of bench replay 8 per core.")
    private int inFlight;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "Open loop: searches arrive at random, at this rate per second; default closed loop.")
    private double rate;

    @Option(names = "--parameters", paramLabel = "FILE", description = "Parameters of the model; default Roost's own.")
    private @Nullable Path parameters;

    /**
     * Creates the options with their defaults.
     *
     * @param workload a name
     * @param budgetMib size of all generated tables; 0 for the workload's
     */
    public WorkloadOptions(String workload, int budgetMib) {
        this.workload = workload;
        this.budgetMib = budgetMib;
    }

    /** Throws if a value is out of the range of a replay. */
    public void check() {
        Options.require("--budget-mib", budgetMib, 1, 65_536);
        Options.require("--in-flight", inFlight, 0, 100_000);
    }

    /** The workload, with tables of that size. */
    public WorkloadSpec read() throws IOException {
        WorkloadSpec spec = WorkloadSpec.load(workload);
        return budgetMib == 0 ? spec : spec.withBudgetMib(budgetMib);
    }

    /** The number of searches in flight; the default if none is given. */
    public int inFlight(int byDefault) {
        return inFlight == 0 ? byDefault : inFlight;
    }

    /** Arrivals per second of an open loop; 0 without one. */
    public double rate() {
        return rate;
    }

    /** The parameters of the model. */
    public Parameters parameters() throws IOException {
        return parameters == null ? Parameters.builtIn() : Parameters.read(parameters);
    }
}
