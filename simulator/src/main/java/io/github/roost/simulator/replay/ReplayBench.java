package io.github.roost.simulator.replay;

import io.github.roost.simulator.Calibration;
import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.measure.Interval;
import io.github.roost.simulator.measure.Schedulings;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.LevelOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.simulator.options.WorkloadOptions;
import io.github.roost.simulator.replay.Replay.Outcome;
import io.github.roost.simulator.workload.TableSpec;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.simulator.workload.WorkloadTables;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench replay}: runs a workload on this machine under one scheduling policy after another. */
@Command(
        name = "replay",
        description = "A workload of many tables on this machine, under scheduling policies and plain pools in turns.")
public final class ReplayBench implements Callable<Integer> {
    private static final int PREDICTED_SEARCHES = 20_000;

    private final @Mixin WorkloadOptions workload = new WorkloadOptions("packages-hnsw", 64);

    /** The policy whose throughput in a closed loop loads are shares of. */
    private static final String CAPACITY_OF = "v1";

    @Option(
            names = "--policy",
            paramLabel = "P,P,..",
            description =
                    "Of v0, v1, v2, v2-gated, roost-undivided, roost; default all but roost-undivided. The first is"
                            + " the baseline.")
    private String policies = String.join(",", Schedulings.NAMES) + ",roost";

    @Option(
            names = "--baseline",
            paramLabel = "forkjoin,fixed",
            split = ",",
            description = "Also the same searches on these pools.")
    private List<String> baselines = List.of();

    private final @Mixin LevelOption level = new LevelOption(DomainLevel.L3);

    @Option(
            names = "--load",
            paramLabel = "X,X,..",
            split = ",",
            description = "After the closed loop, open loops at these shares of the throughput of v1 in it.")
    private List<Double> loads = List.of();

    @Option(names = "--one-table", description = "One table with the total size of all.")
    private boolean oneTable;

    private final @Mixin NumberOption rounds = NumberOption.rounds(6, 10_000);
    private final @Mixin NumberOption seconds = NumberOption.seconds(3, 1, 3_600);

    @Option(
            names = "--predict",
            description = "Also the simulator's prediction for a machine like the one its parameters were measured on.")
    private boolean predict;

    @Option(
            names = "--calibrate",
            description = "For --predict: first measures this machine, a minute, as sim --calibrate does.")
    private boolean calibrate;

    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws Exception {
        workload.check();
        NumberOption.check(rounds, seconds);
        List<String> schedulings =
                Arrays.asList(policies.toLowerCase(Locale.ROOT).split(",", -1));
        List<String> names = new ArrayList<>(schedulings);
        names.addAll(baselines);
        requireLoads(names);
        Topology topology = level.machine();
        int cores = Math.toIntExact(topology.cores().count());
        double rate = workload.rate();
        WorkloadSpec spec = workload.read().withLoad(workload.inFlight(8 * cores), rate);
        if (oneTable) {
            spec = spec.withTables(1);
        }
        List<TableSpec> tables = WorkloadTables.specs(spec, RoostHome.packages());
        Parameters parameters = parameters();
        try (Replay replay = new Replay(spec, tables, topology, names, output::progress)) {
            replay.warmUp(output::progress);
            List<Measured> all = new ArrayList<>();
            all.add(measured(replay, parameters, topology.level(), schedulings, 0, rate));
            double capacity = loads.isEmpty() ? 0 : capacity(all.getFirst());
            for (double load : loads) {
                all.add(measured(replay, parameters, topology.level(), schedulings, load, load * capacity));
            }
            for (Measured measured : all) {
                print(spec, topology, measured);
            }
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("workload", spec);
            result.put("domains", topology.domains().size());
            result.put("outcomes", all.getFirst().outcomes);
            result.put("predicted", all.getFirst().predicted);
            result.put("loads", all.subList(1, all.size()));
            output.print(result);
        }
        return 0;
    }

    /**
     * The measurements of a replay under one load.
     *
     * @param load share of a policy's throughput; 0 for a load given directly
     * @param perSecond arrivals per second; 0 in a closed loop
     */
    private record Measured(double load, double perSecond, List<Outcome> outcomes, List<SimResult> predicted) {}

    private void requireLoads(List<String> names) {
        for (double load : loads) {
            if (!(load > 0 && load <= 10)) {
                throw new IllegalArgumentException("--load must be over 0 and at most 10, got " + load);
            }
        }
        if (!loads.isEmpty() && !names.contains(CAPACITY_OF)) {
            throw new IllegalArgumentException("--load needs " + CAPACITY_OF + " among the policies, got " + names);
        }
        if (!loads.isEmpty() && workload.rate() > 0) {
            throw new IllegalArgumentException(
                    "--load is a share of a closed loop's throughput: leave out --rate, got " + workload.rate());
        }
    }

    private double capacity(Measured closed) {
        return closed.outcomes.stream()
                .filter(outcome -> outcome.name().equals(CAPACITY_OF))
                .mapToDouble(outcome -> Interval.of(outcome.rates()).mean())
                .findFirst()
                .orElseThrow();
    }

    private Measured measured(
            Replay replay,
            Parameters parameters,
            DomainLevel level,
            List<String> schedulings,
            double load,
            double perSecond)
            throws Exception {
        Duration slice = Duration.ofSeconds(seconds.value());
        List<Outcome> outcomes = perSecond > 0
                ? replay.runOpen(perSecond, rounds.value(), slice, output::progress)
                : replay.run(rounds.value(), slice, output::progress);
        List<SimResult> predicted = predict
                ? replay.predict(parameters, "here", level, schedulings, perSecond, PREDICTED_SEARCHES)
                : List.of();
        return new Measured(load, perSecond, outcomes, predicted);
    }

    private Parameters parameters() throws Exception {
        Parameters given = workload.parameters();
        return calibrate ? new Calibration(given, output::progress).run() : given;
    }

    @SuppressWarnings("ReferenceEquality") // the first of the list, not one of the same figures
    private void print(WorkloadSpec spec, Topology topology, Measured measured) {
        List<Outcome> outcomes = measured.outcomes;
        output.format(
                "%s on %d domains, %s",
                spec.name(),
                topology.domains().size(),
                measured.perSecond > 0 ? openLoop(measured) : "closed loop, %d in flight".formatted(spec.inFlight()));
        output.line("                searches/s   +-     P50 us    P99 us   P999 us  recall   steals in, across"
                + "   remaps  moved MiB   ratio to "
                + outcomes.getFirst().name());
        for (Outcome outcome : outcomes) {
            Interval perSecond = Interval.of(outcome.rates());
            output.format(
                    "%-15s %10.0f %5.0f %9.0f %9.0f %9.0f %7.3f %9d %8d %8d %10.0f   %s",
                    outcome.name(),
                    perSecond.mean(),
                    perSecond.halfWidth(),
                    outcome.latencies().p50us(),
                    outcome.latencies().p99us(),
                    outcome.latencies().p999us(),
                    outcome.recall(),
                    outcome.scheduled().intraSteals(),
                    outcome.scheduled().crossSteals(),
                    outcome.scheduled().remaps(),
                    outcome.scheduled().movedMib(),
                    outcome == outcomes.getFirst() ? "" : outcome.verdict());
        }
        if (measured.perSecond > 0) {
            output.format(
                    "delay from the intended to the actual submission, included in latencies: P50 %.0f us, P999 %.0f"
                            + " us",
                    outcomes.getFirst().late().p50us(),
                    outcomes.getFirst().late().p999us());
        }
        printPredicted(measured);
        output.line("");
    }

    private String openLoop(Measured measured) {
        String share = measured.load > 0 ? "%.2f of the throughput of %s, ".formatted(measured.load, CAPACITY_OF) : "";
        return "open loop, %s%.0f searches per second".formatted(share, measured.perSecond);
    }

    private void printPredicted(Measured all) {
        if (all.predicted.isEmpty()) {
            return;
        }
        output.line(
                "\n                predicted: searches/s   P50 us   P999 us   over measured: searches/s    P50   P999"
                        + "   CPU us per search: predicted, measured");
        for (SimResult simulated : all.predicted) {
            Outcome measured = all.outcomes.stream()
                    .filter(outcome -> outcome.name().equals(simulated.policy()))
                    .findFirst()
                    .orElseThrow();
            output.format(
                    "%-15s %22.0f %8.0f %9.0f %26.2f %6.2f %6.2f %29.1f %9.1f",
                    simulated.policy(),
                    simulated.perSecond(),
                    simulated.latencies().p50us(),
                    simulated.latencies().p999us(),
                    simulated.perSecond() / Interval.of(measured.rates()).mean(),
                    simulated.latencies().p50us() / measured.latencies().p50us(),
                    simulated.latencies().p999us() / measured.latencies().p999us(),
                    simulated.busyMicros(),
                    measured.cpuMicros());
        }
    }
}
