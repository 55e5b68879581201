package io.github.roost.examples.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.roost.bench.Interval;
import io.github.roost.bench.Schedulings;
import io.github.roost.bench.replay.Replay;
import io.github.roost.bench.replay.Replay.Outcome;
import io.github.roost.bench.sim.Calibration;
import io.github.roost.bench.sim.Parameters;
import io.github.roost.bench.sim.SimResult;
import io.github.roost.bench.workload.TableSpec;
import io.github.roost.bench.workload.WorkloadSpec;
import io.github.roost.bench.workload.WorkloadTables;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench replay}: a workload on this machine, one scheduling after the other. */
@Command(
        name = "replay",
        description = "A workload of many tables on this machine, the schedulings and plain pools in turns.")
final class ReplayCommand implements Callable<Integer> {
    private static final int BUDGET_MIB = 64;

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--workload",
            paramLabel = "NAME|FILE.json",
            description = "hnsw, ivf, packages-hnsw, packages-ivf, or a JSON file; default packages-hnsw.")
    private String workload = "packages-hnsw";

    @Option(names = "--policy", paramLabel = "P,P,..", description = "Of v0, v1, v2, v2-gated; default all.")
    private String policies = String.join(",", Schedulings.NAMES);

    @Option(names = "--baseline", paramLabel = "forkjoin|fixed", description = "Also the same searches on this pool.")
    private @Nullable String baseline;

    @Option(names = "--level", paramLabel = "L3|L2|NUMA|PACKAGE", description = "What a cache domain is; default L3.")
    private DomainLevel level = DomainLevel.L3;

    @Option(
            names = "--budget-mib",
            paramLabel = "N",
            description = "Size of all generated tables; default " + BUDGET_MIB + ".")
    private int budgetMib = BUDGET_MIB;

    @Option(names = "--in-flight", paramLabel = "N", description = "Searches under way; default 8 a core.")
    private int inFlight;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "Open loop: searches arrive at random, so many a second; default closed loop.")
    private double rate;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all; default 6.")
    private int rounds = 6;

    @Option(names = "--seconds", paramLabel = "N", description = "Time of each in a round; default 3.")
    private int seconds = 3;

    @Option(
            names = "--predict",
            description = "Also what the simulator says of a machine like the one its parameters were measured on.")
    private boolean predict;

    @Option(names = "--parameters", paramLabel = "FILE", description = "For --predict; default Roost's own.")
    private @Nullable Path parameterFile;

    @Option(
            names = "--calibrate",
            description = "For --predict: first measures this machine, a minute, as sim --calibrate does.")
    private boolean calibrate;

    @Option(names = "--json", description = "Print the result as JSON.")
    private boolean json;

    ReplayCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--budget-mib", budgetMib, 1, 65_536);
        BenchCommand.require("--in-flight", inFlight, 0, 100_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--seconds", seconds, 1, 3_600);
        List<String> schedulings =
                Arrays.asList(policies.toLowerCase(Locale.ROOT).split(",", -1));
        List<String> names = new ArrayList<>(schedulings);
        if (baseline != null) {
            names.add(baseline);
        }
        Topology topology = TopologyReader.live().level(level).read();
        int cores = Math.toIntExact(topology.cores().count());
        WorkloadSpec spec = WorkloadSpec.load(workload)
                .withBudgetMib(budgetMib)
                .withLoad(inFlight == 0 ? 8 * cores : inFlight, rate);
        List<TableSpec> tables = WorkloadTables.specs(spec, RoostHome.packages());
        Parameters parameters = parameters();
        try (Replay replay = new Replay(spec, tables, topology, names, streams.err()::println)) {
            List<Outcome> outcomes = replay.run(rounds, Duration.ofSeconds(seconds), streams.err()::println);
            List<SimResult> predicted =
                    predict ? replay.predict(parameters, "here", level, schedulings, 20_000) : List.of();
            if (json) {
                Map<String, Object> result = new LinkedHashMap<>();
                result.put("workload", spec);
                result.put("domains", topology.domains().size());
                result.put("outcomes", outcomes);
                result.put("predicted", predicted);
                streams.out().println(new JsonMapper().writeValueAsString(result));
            } else {
                print(spec, topology, outcomes);
                printPredicted(outcomes, predicted);
            }
        }
        return 0;
    }

    private Parameters parameters() throws Exception {
        Parameters given = parameterFile == null ? Parameters.builtIn() : Parameters.read(parameterFile);
        return calibrate ? new Calibration(given, streams.err()::println).run() : given;
    }

    @SuppressWarnings("ReferenceEquality") // the first of the list, not one of the same figures
    private void print(WorkloadSpec spec, Topology topology, List<Outcome> outcomes) {
        streams.out()
                .println("%s on %d domains, %s"
                        .formatted(
                                spec.name(),
                                topology.domains().size(),
                                spec.perSecond() > 0
                                        ? "open loop, %.0f searches a second".formatted(spec.perSecond())
                                        : "closed loop, %d in flight".formatted(spec.inFlight())));
        streams.out()
                .println("           searches/s   +-     P50 us    P99 us   P999 us  recall   steals in, across"
                        + "   remaps  moved MiB   ratio to "
                        + outcomes.getFirst().name());
        for (Outcome outcome : outcomes) {
            Interval perSecond = Interval.of(outcome.rates());
            streams.out()
                    .println("%-9s %11.0f %5.0f %9.0f %9.0f %9.0f %7.3f %9d %8d %8d %10.0f   %s"
                            .formatted(
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
                                    outcome == outcomes.getFirst() ? "" : outcome.verdict()));
        }
    }

    private void printPredicted(List<Outcome> outcomes, List<SimResult> predicted) {
        if (predicted.isEmpty()) {
            return;
        }
        streams.out()
                .println(
                        "\n           predicted/s   measured/s   predicted over measured   CPU us a search: predicted, measured");
        for (SimResult simulated : predicted) {
            Outcome measured = outcomes.stream()
                    .filter(outcome -> outcome.name().equals(simulated.policy()))
                    .findFirst()
                    .orElseThrow();
            double rateMeasured = Interval.of(measured.rates()).mean();
            streams.out()
                    .println("%-9s %12.0f %12.0f %25.2f %29.1f %9.1f"
                            .formatted(
                                    simulated.policy(),
                                    simulated.perSecond(),
                                    rateMeasured,
                                    simulated.perSecond() / rateMeasured,
                                    simulated.busyMicros(),
                                    measured.cpuMicros()));
        }
    }
}
