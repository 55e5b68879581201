package io.github.roost.cli;

import io.github.roost.simulator.Calibration;
import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.Policy;
import io.github.roost.simulator.SimReport;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.Study;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.WindowLength;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.simulator.options.WorkloadOptions;
import io.github.roost.simulator.orchestration.Regime;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code roost sim}: simulates searches on another machine. */
@Command(
        name = "sim",
        description = {
            "Simulates a chiplet machine: the dispatch, stealing, gate and mapper of core run on virtual time.",
            "Simulated searches read what real searches of the workload's tables were recorded to read.",
            "Cores, caches and memory are modeled."
        })
final class SimCommand implements Callable<Integer> {
    private final Streams streams;

    /** Options that may name a file that is read. */
    private static final List<String> INPUTS = List.of("--machine", "--workload", "--parameters", "--traces");

    @Option(
            names = "--machine",
            paramLabel = "NAME|FILE.xml",
            description = "genoa, genoa-2s, rome, monolithic, or an hwloc XML file of a machine; default genoa.")
    private String machine = "genoa";

    private final @Mixin WorkloadOptions workload = new WorkloadOptions("hnsw", 0);

    @Option(
            names = "--policy",
            paramLabel = "P,P,..",
            description = "v0, v1, v2 (as published), v2-gated, v2-homes, v2-staying, v2-batch-queues, roost-whole,"
                    + " roost-undivided, roost; default v0,v1,v2.")
    private String policies = "v0,v1,v2";

    @Option(
            names = "--ccds",
            paramLabel = "N|A..B",
            description = "Numbers of domains per package, up to the machine's, one after another; default all.")
    private @Nullable String ccds;

    @Option(names = "--level", paramLabel = "L3|L2", description = "Level of the domains; default L3.")
    private DomainLevel level = DomainLevel.L3;

    @Option(
            names = "--searches",
            paramLabel = "N",
            description =
                    "Searches to measure; default 50,000; per simulation 6,000 with --matrix, 2,000 with --figures.")
    private @Nullable Integer searches;

    @Option(
            names = {"--window", "--window-searches"},
            paramLabel = "N",
            description = "Searches per window of the mapper; default 1,000. The paper's windows have 10 s.")
    private int window = 1_000;

    @Option(
            names = "--window-seconds",
            paramLabel = "S",
            description = "Or the window's length in seconds of virtual time.")
    private double windowSeconds;

    @Option(
            names = "--sample",
            paramLabel = "N",
            description = {
                "Simulate one in N nodes and blocks, with caches smaller by the same factor; default 4, with --matrix"
                        + " or --figures",
                "32."
            })
    private @Nullable Integer sample;

    @Option(names = "--drift", paramLabel = "N", description = "Searches between drifts; default none.")
    private int drift;

    @Option(
            names = "--table-skew",
            paramLabel = "N",
            description = "Traffic of the hottest table relative to the coldest; default the workload's.")
    private double tableSkew;

    @Option(
            names = "--query-skew",
            paramLabel = "E",
            description = "Exponent of Zipf's law for targets and regions of a table; default the workload's.")
    private double querySkew = -1;

    @Option(
            names = "--one-table",
            description =
                    "Only the largest table of the workload, which has several homes if there are several domains.")
    private boolean oneTable;

    @Option(
            names = "--sensitivity",
            description = "Also halve and double each assumption, one at a time, for the first and the last policy.")
    private boolean sensitivity;

    @Option(names = "--tables", description = "Also print P50 and P999 per table.")
    private boolean tables;

    @Option(
            names = "--traces",
            paramLabel = "FILE",
            description = "File for the recorded reads; default in the build folder, by workload.")
    private @Nullable Path traceFile;

    @Option(
            names = "--calibrate",
            description =
                    "Measure this machine and the cost of searches on it, and print parameters with a machine named"
                            + " here.")
    private boolean calibrate;

    @Option(
            names = "--matrix",
            description = {
                "All machines, indexes, regimes and loads, stationary and drifting, with V0, V1, V2, V2 gated and"
                        + " Roost: one",
                "table, worst ratio of Roost first. --searches, --sample, --regime, --parameters and --json apply."
            })
    private boolean matrix;

    @Option(
            names = "--figures",
            description = {
                "The paper's figures 5, 6 and 14 to 20 on Genoa and Rome, compared with its values, and for each"
                        + " difference the",
                "assumption that causes it, as one page. --searches, --sample, --regime, --parameters and --out apply."
            })
    private boolean figures;

    @Option(
            names = "--out",
            paramLabel = "FILE.html",
            description = "With --figures: the page; default in the build folder.")
    private @Nullable Path page;

    @Option(names = "--quick", description = "With --matrix or --figures: a small part, with small tables, in seconds.")
    private boolean quick;

    @Option(
            names = "--regime",
            paramLabel = "R,R",
            description = "With --matrix or --figures: small, paper; default both.")
    private String regimes = String.join(",", Regime.NAMES);

    @Option(
            names = "--rows",
            paramLabel = "N",
            description = "With --matrix: rows of the table, worst first; default 60.")
    private int rows = 60;

    @Option(names = "--json", paramLabel = "FILE", description = "Also write the results as JSON.")
    private @Nullable Path json;

    @Spec
    private @SuppressWarnings("NullAway.Init") CommandSpec spec;

    SimCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        requireNoInput("--json", json);
        requireNoInput("--out", page);
        int measured = given(searches, 50_000, 6_000, 2_000);
        Options.require("--searches", measured, 100, 100_000_000);
        Options.require("--window", window, 1, 100_000_000);
        if (!(windowSeconds >= 0 && windowSeconds < 1e6)) {
            throw new CommandFailure("--window-seconds must be between 0 and 1,000,000, got " + windowSeconds);
        }
        int oneIn = given(sample, 4, 32, 32);
        Options.require("--sample", oneIn, 1, 64);
        Options.require("--drift", drift, 0, Integer.MAX_VALUE);
        Parameters parameters = workload.parameters();
        if (calibrate) {
            calibrate(parameters);
            return 0;
        }
        if (matrix) {
            Options.require("--rows", rows, 1, 1_000_000);
            studies(parameters).matrix(measured, oneIn, rows, json);
            return 0;
        }
        if (figures) {
            studies(parameters).figures(measured, oneIn, page == null ? defaultPage() : page);
            return 0;
        }
        List<Policy> chosen = Policy.parse(policies);
        if (!machine.endsWith(".xml")) {
            // Reports an unknown name before tables are built.
            var _ = parameters.machine(machine);
        }
        WorkloadSpec spec = workload.read();
        var _ = asRun(spec);
        List<Integer> counts = ccds == null ? List.of() : counts(ccds, parameters);
        try (OutputFile file = json == null ? null : OutputFile.prepare("--json", json)) {
            Study study = new Study(traces(spec), parameters.tasks(), measured, windowLength(), 0, oneIn);
            List<SimResult> results = Study.runAll(simulations(study, parameters, chosen, counts), this::progress);
            List<SimReport.Variant> variants = sensitivity ? variants(study, parameters, chosen) : List.of();
            SimReport report = new SimReport(spec, results, variants);
            streams.out().println(aboutWindows());
            report.print(streams.out()::println, tables);
            if (file != null) {
                file.write(path -> Files.writeString(path, report.json(), StandardCharsets.UTF_8));
            }
        }
        return 0;
    }

    /** Refuses a result that would overwrite a file that is read. */
    private void requireNoInput(String option, @Nullable Path result) throws IOException {
        for (String input : INPUTS) {
            Object named = spec.findOption(input).getValue();
            if (result != null && named != null) {
                OutputFile.requireOther(option, result, input, Path.of(named.toString()));
            }
        }
    }

    /** The value of an option, or its default for one simulation, for the matrix or for the figures, which have thousands. */
    private int given(@Nullable Integer option, int one, int ofMatrix, int ofFigures) {
        if (option != null) {
            return option;
        }
        return matrix ? ofMatrix : figures ? ofFigures : one;
    }

    private void calibrate(Parameters parameters) throws Exception {
        try (OutputFile file = json == null ? null : OutputFile.prepare("--json", json)) {
            String measured = new Calibration(parameters, this::say).run().json();
            streams.out().println(measured);
            if (file != null) {
                file.write(path -> Files.writeString(path, measured, StandardCharsets.UTF_8));
            }
        }
    }

    private static Path defaultPage() {
        return RoostHome.folder("cli/target").resolve("sim-figures.html");
    }

    private SimStudies studies(Parameters parameters) {
        List<String> names = List.of(regimes.split(",", -1));
        for (String name : names) {
            if (!Regime.NAMES.contains(name)) {
                throw new CommandFailure("--regime must be one of " + Regime.NAMES + ", got " + name);
            }
        }
        return new SimStudies(parameters, names, quick, streams.out()::println, this::say);
    }

    private WindowLength windowLength() {
        return windowSeconds > 0 ? WindowLength.ofSeconds(windowSeconds) : WindowLength.ofSearches(window);
    }

    private String aboutWindows() {
        String length =
                windowSeconds > 0 ? "%s s of virtual time".formatted(windowSeconds) : "%,d searches".formatted(window);
        return "windows of " + length + ", six per long window; the paper's are of 10 s and 60 s";
    }

    /** Applies the options that change how the workload runs, but not what its searches read. */
    private WorkloadSpec asRun(WorkloadSpec spec) {
        double rate = workload.rate() == 0 ? spec.perSecond() : workload.rate();
        WorkloadSpec loaded = spec.withLoad(workload.inFlight(spec.inFlight()), rate);
        loaded = tableSkew == 0 ? loaded : loaded.withTableSkew(tableSkew, loaded.popularity());
        loaded = querySkew < 0 ? loaded : loaded.withQuerySkew(querySkew);
        return drift == 0 ? loaded : loaded.withDrift(drift, Math.max(1, loaded.driftSwaps()));
    }

    private Traces traces(WorkloadSpec spec) throws IOException, InterruptedException {
        Path file = traceFile != null ? traceFile : KeptTraces.file(spec);
        Traces all = KeptTraces.of(spec, file, this::say).with(this::asRun);
        return oneTable ? all.ofLargestTable() : all;
    }

    private List<Callable<SimResult>> simulations(
            Study study, Parameters parameters, List<Policy> chosen, List<Integer> counts) {
        List<Callable<SimResult>> simulations = new ArrayList<>();
        if (machine.endsWith(".xml")) {
            Topology topology =
                    TopologyReader.xml(Path.of(machine)).level(level).read();
            for (Policy policy : chosen) {
                Callable<SimResult> simulation = study.on(topology, parameters.machine("genoa"), policy);
                simulations.add(announced(policy, machine, simulation));
            }
            return simulations;
        }
        Parameters.Machine whole = parameters.machine(machine);
        for (int count : counts.isEmpty() ? List.of(whole.domains()) : counts) {
            for (Policy policy : chosen) {
                Callable<SimResult> simulation = study.on(whole.withDomains(count), level, policy);
                simulations.add(announced(policy, "domains per package: " + count, simulation));
            }
        }
        return simulations;
    }

    private List<SimReport.Variant> variants(Study study, Parameters parameters, List<Policy> chosen)
            throws InterruptedException {
        if (machine.endsWith(".xml")) {
            throw new CommandFailure("--sensitivity needs a machine by name, got " + machine);
        }
        List<Policy> compared = chosen.size() < 2 ? chosen : List.of(chosen.getFirst(), chosen.getLast());
        List<Callable<SimResult>> simulations = new ArrayList<>();
        List<String> names = new ArrayList<>();
        names.add("all as assumed");
        for (Policy policy : compared) {
            Callable<SimResult> simulation = study.on(parameters.machine(machine), level, policy);
            simulations.add(announced(policy, names.getFirst(), simulation));
        }
        for (Parameters.Knob knob : Parameters.knobs()) {
            for (double factor : new double[] {.5, 2}) {
                Parameters.Variant variant =
                        knob.change().times(parameters.machine(machine), parameters.tasks(), factor);
                String name = "%s x %s".formatted(knob.name(), factor);
                names.add(name);
                Study varied = study.with(variant.tasks());
                for (Policy policy : compared) {
                    simulations.add(announced(policy, name, varied.on(variant.machine(), level, policy)));
                }
            }
        }
        List<SimResult> results = Study.runAll(simulations, this::progress);
        return IntStream.range(0, names.size())
                .mapToObj(number -> new SimReport.Variant(
                        names.get(number), results.subList(number * compared.size(), (number + 1) * compared.size())))
                .toList();
    }

    /** A simulation that reports its begin. */
    private Callable<SimResult> announced(Policy policy, String what, Callable<SimResult> simulation) {
        return () -> {
            say("simulating %s, %s".formatted(policy.name(), what));
            return simulation.call();
        };
    }

    private List<Integer> counts(String text, Parameters parameters) {
        if (machine.endsWith(".xml")) {
            throw new CommandFailure("--ccds needs a machine by name, got " + machine);
        }
        int all = parameters.machine(machine).domains();
        String[] ends = text.split("\\.\\.", -1);
        try {
            int first = Integer.parseInt(ends[0]);
            int last = ends.length == 1 ? first : Integer.parseInt(ends[1]);
            if (ends.length <= 2 && first >= 1 && last >= first && last <= all) {
                return IntStream.rangeClosed(first, last).boxed().toList();
            }
        } catch (NumberFormatException notANumber) {
            // Reported below with the other errors.
        }
        String limit = "the %d domains per package of %s".formatted(all, machine);
        throw new CommandFailure("--ccds must be a number or a range such as 1..12, up to " + limit + ", got " + text);
    }

    private void progress(SimResult result) {
        say("simulated %s on %d domains".formatted(result.policy(), result.domains()));
    }

    private void say(String line) {
        streams.err().println(line);
    }
}
