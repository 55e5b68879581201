package io.github.roost.cli;

import io.github.roost.bench.disk.StallRecording;
import io.github.roost.bench.disk.StallSplits;
import io.github.roost.bench.disk.StallsBench;
import io.github.roost.bench.disk.StallsBench.Outcome;
import io.github.roost.bench.disk.UpdateWorkersBench;
import io.github.roost.bench.disk.UpdateWorkersBench.Kind;
import io.github.roost.core.policy.StallPolicy;
import io.github.roost.index.disk.ReadMode;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench stalls}: updates of a table on disk, concurrent with its searches. */
@Command(
        name = "stalls",
        description = "Updates of a table on disk concurrent with searches, compared by update mechanism.")
final class StallsCommand implements Callable<Integer> {
    private static final int SLICE_MILLIS = 1_000;
    private static final int LADDER_SLICE_MILLIS = 3_000;
    private static final int LADDER_LEAD_IN_MILLIS = 2_000;

    private static final double[] SPLIT_TARGETS = {Double.NaN, .02, .05, .1, .2};
    private static final int[] SPLIT_SEARCHERS = {4, 16, 28};
    private static final int SPLIT_WORKERS = 32;
    private static final double MIB = 1 << 20;
    private static final int SPLIT_CYCLES = 100_000;
    private static final long SPLIT_SEED = 1;

    /** Parts of the ladder. */
    enum Part {
        both,
        inserts,
        deletes
    }

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--folder", paramLabel = "DIR", description = "Folder for the table; default the temporary folder.")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"));

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the table; default 100,000.")
    private int rows = 100_000;

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default 5.")
    private int rounds = 5;

    @Option(
            names = "--slice-millis",
            paramLabel = "N",
            description = "Time per measurement; default 1000, with --ladder 3000.")
    private @Nullable Integer sliceMillis;

    @Option(
            names = "--ladder",
            description = {
                "All ways: an update thread, an update thread of idle priority, whole updates in stalls, and one mechanism",
                "after another. Default: slices of 5 us and of a millisecond."
            })
    private boolean ladder;

    @Option(
            names = "--target",
            split = ",",
            paramLabel = "PERCENT",
            description = "Latency targets of the ladder; default 5.")
    private List<Double> targets = List.of(5.0);

    @Option(
            names = "--ways",
            split = ",",
            paramLabel = "NAME",
            description = "Only these steps of the ladder, and searches without updates; default all.")
    private List<String> ways = List.of();

    @Option(
            names = "--lead-in-millis",
            paramLabel = "N",
            description = "Warm-up before each measurement; default 0, with --ladder 2000.")
    private @Nullable Integer leadInMillis;

    @Option(
            names = "--kind",
            split = ",",
            paramLabel = "both|inserts|deletes",
            description = {
                "Parts of the ladder, default all: inserts and deletes in turns, with an update thread; inserts alone, and deletes",
                "alone, with workers that only do updates. Deletes are measured until their rows are out of the graph, at most for --slice-millis."
            })
    private List<Part> parts = List.of(Part.values());

    @Option(
            names = "--level",
            paramLabel = "L3|L2|NUMA|PACKAGE",
            description = "Level of the cache domains for inserts alone and deletes alone; default the machine's.")
    private @Nullable DomainLevel level;

    @Option(
            names = "--splits",
            description =
                    "Simulates 4, 16 and 28 of 32 workers searching while the others update, from recorded stalls.")
    private boolean splits;

    @Option(
            names = "--record",
            paramLabel = "DIR",
            description = "Instead writes a recording for --splits to a folder.")
    private @Nullable Path record;

    @Option(names = "--recorded", paramLabel = "DIR", description = "Recording for --splits; default Roost's own.")
    private @Nullable Path recorded;

    @Option(names = "--pipelined", description = "Pipelined searches; default beam searches.")
    private boolean pipelined;

    @Mixin
    private final JsonOption json;

    StallsCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        BenchCommand.require("--rows", rows, 1_000, 100_000_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        int slice = Objects.requireNonNullElse(sliceMillis, ladder ? LADDER_SLICE_MILLIS : SLICE_MILLIS);
        BenchCommand.require("--slice-millis", slice, 1, 60_000);
        int leadIn = Objects.requireNonNullElse(leadInMillis, ladder || record != null ? LADDER_LEAD_IN_MILLIS : 0);
        BenchCommand.require("--lead-in-millis", leadIn, 0, 60_000);
        for (double target : targets) {
            BenchCommand.require("--target", (int) Math.ceil(target), 1, 100);
        }
        StallsBench.Plan plan = new StallsBench.Plan(
                rows,
                Duration.ofMillis(leadIn),
                Duration.ofMillis(slice),
                rounds,
                pipelined ? ReadMode.PIPELINED : ReadMode.BEAM);
        Map<String, Object> results = new LinkedHashMap<>();
        Path into = record;
        if (into != null) {
            for (Kind kind : Kind.values()) {
                Files.writeString(
                        into.resolve(StallRecording.fileName(kind)),
                        new UpdateWorkersBench(folder, plan, machine())
                                .record(kind)
                                .text());
            }
        } else if (splits) {
            for (Kind kind : Kind.values()) {
                results.put(nameOf(kind), split(kind));
            }
        } else if (!ladder) {
            beside(new StallsBench(folder, plan).slices(), results);
        } else {
            List<Double> shares = targets.stream().map(percent -> percent / 100).toList();
            if (parts.contains(Part.both)) {
                beside(new StallsBench(folder, plan).ladder(shares, ways), results);
            }
            if (parts.contains(Part.inserts)) {
                besideUpdateWorkers(plan, Kind.INSERTS, shares, results);
            }
            if (parts.contains(Part.deletes)) {
                besideUpdateWorkers(plan, Kind.DELETES, shares, results);
            }
        }
        json.print(Map.of("results", results));
        return 0;
    }

    private Topology machine() {
        TopologyReader reader = TopologyReader.live();
        DomainLevel cut = level;
        return (cut == null ? reader : reader.level(cut)).read();
    }

    private static String nameOf(Kind kind) {
        return kind == Kind.INSERTS ? "inserts" : "deletes";
    }

    private Map<String, Object> split(Kind kind) throws IOException {
        StallRecording recording;
        Path from = recorded;
        if (from == null) {
            recording = StallRecording.kept(kind);
        } else {
            try (BufferedReader lines = Files.newBufferedReader(from.resolve(StallRecording.fileName(kind)))) {
                recording = StallRecording.read(lines);
            }
        }
        StallSplits simulation = new StallSplits(recording, SPLIT_CYCLES);
        Map<String, Object> results = new LinkedHashMap<>();
        json.line(String.format(
                Locale.ROOT,
                "%-9s  target  filled by  updates/s    over empty stalls  searches longer by  share",
                nameOf(kind)));
        for (int searchers : SPLIT_SEARCHERS) {
            String split = searchers + ":" + (SPLIT_WORKERS - searchers);
            for (double target : SPLIT_TARGETS) {
                for (StallPolicy policy : List.of(StallPolicy.POLLED, StallPolicy.BUDGETED)) {
                    StallSplits.Outcome outcome = simulation.run(
                            searchers,
                            SPLIT_WORKERS - searchers,
                            Double.isNaN(target) ? policy : policy.withLatencyTarget(target),
                            SPLIT_SEED);
                    String way = policy.isBudgeted() ? "budgets" : "steps";
                    String percent = Double.isNaN(target) ? "none" : Math.round(100 * target) + " %";
                    results.put(split + ", " + percent + ", " + way, outcome);
                    json.line(String.format(
                            Locale.ROOT,
                            "%-9s  %6s  %-9s  %9.0f  %19.2f  %16.1f %%  %5.2f",
                            split,
                            percent,
                            way,
                            outcome.updatesPerSecond(),
                            outcome.besideEmpty(),
                            100 * outcome.longer(),
                            outcome.share()));
                }
            }
        }
        return results;
    }

    private void besideUpdateWorkers(StallsBench.Plan plan, Kind kind, List<Double> shares, Map<String, Object> results)
            throws IOException, InterruptedException {
        UpdateWorkersBench bench = new UpdateWorkersBench(folder, plan, machine());
        Map<String, List<UpdateWorkersBench.Outcome>> outcomes = bench.measure(kind, shares);
        List<UpdateWorkersBench.Outcome> empty = outcomes.getOrDefault("update workers", List.of());
        json.line(String.format(
                Locale.ROOT,
                "%-18s  updates/s  over update workers      searches longer by (mean)    P50 us  over update workers     P99 us  over update workers    filled  share  slowdown",
                nameOf(kind)));
        outcomes.forEach((way, measured) -> {
            results.put(nameOf(kind) + ", " + way, measured);
            Samples longer = beside(measured, empty, UpdateWorkersBench.Outcome::meanMicros);
            json.line(String.format(
                    Locale.ROOT,
                    "%-18s  %9.0f  %-21s  %5.1f %% (%5.1f to %5.1f)  %8.0f  %-21s  %7.0f  %-21s  %4.0f %%  %5.2f  %6.1f %%",
                    way,
                    median(measured, UpdateWorkersBench.Outcome::updatesPerSecond),
                    spread(beside(measured, empty, UpdateWorkersBench.Outcome::updatesPerSecond)),
                    100 * (longer.median() - 1),
                    100 * (longer.least() - 1),
                    100 * (longer.most() - 1),
                    median(measured, UpdateWorkersBench.Outcome::p50us),
                    spread(beside(measured, empty, UpdateWorkersBench.Outcome::p50us)),
                    median(measured, UpdateWorkersBench.Outcome::p99us),
                    spread(beside(measured, empty, UpdateWorkersBench.Outcome::p99us)),
                    100 * median(measured, UpdateWorkersBench.Outcome::filledShare),
                    median(measured, UpdateWorkersBench.Outcome::share),
                    100 * median(measured, UpdateWorkersBench.Outcome::slowdown)));
        });
        bench.places()
                .forEach(place -> json.line(String.format(
                        Locale.ROOT,
                        "%s: home %s, %,d searches; MiB of codes %,.0f, of changed pages %,.0f, through the page cache %,.0f, from the device %,.0f",
                        place.name(),
                        place.homes(),
                        place.searches(),
                        place.traffic().codes() / MIB,
                        place.traffic().changedPages() / MIB,
                        place.traffic().pageCache() / MIB,
                        place.traffic().device() / MIB)));
        results.put(nameOf(kind) + ", tables", bench.places());
    }

    private void beside(Map<String, List<Outcome>> outcomes, Map<String, Object> results) {
        List<Outcome> none = outcomes.getOrDefault("none", List.of());
        List<Outcome> thread = outcomes.getOrDefault("thread", none);
        json.line(
                "updates            searches/s     longer by (mean)         P50 us  over none            P99 us  over none          updates/s  over thread          reads  stalled  prune  filled");
        List<Outcome> blocking = outcomes.getOrDefault("none blocking", none);
        outcomes.forEach((way, measured) -> {
            results.put(way, measured);
            List<Outcome> base = way.equals("idle blocking") ? blocking : none;
            Samples longer = beside(base, measured, Outcome::searchesPerSecond);
            Samples p50 = beside(measured, base, Outcome::p50us);
            Samples p99 = beside(measured, base, Outcome::p99us);
            String updates = way.startsWith("none") || !ladder
                    ? ""
                    : spread(beside(measured, thread, Outcome::updatesPerSecond));
            json.line(String.format(
                    Locale.ROOT,
                    "%-18s %10.0f  %5.1f %% (%5.1f to %5.1f)  %8.0f  %s  %8.0f  %s  %9.0f  %-19s  %6.1f  %4.0f %%  %4.0f %%  %4.0f %%",
                    way,
                    median(measured, Outcome::searchesPerSecond),
                    100 * (longer.median() - 1),
                    100 * (longer.least() - 1),
                    100 * (longer.most() - 1),
                    median(measured, Outcome::p50us),
                    spread(p50),
                    median(measured, Outcome::p99us),
                    spread(p99),
                    median(measured, Outcome::updatesPerSecond),
                    updates,
                    median(measured, Outcome::readsPerSearch),
                    100 * median(measured, Outcome::stalledShare),
                    100 * median(measured, Outcome::pruneShare),
                    100 * median(measured, Outcome::filledShare)));
        });
    }

    private static String spread(Samples samples) {
        return String.format(Locale.ROOT, "%4.2f (%4.2f to %4.2f)", samples.median(), samples.least(), samples.most());
    }

    private static <T> double median(List<T> rounds, ToDoubleFunction<T> figure) {
        return Samples.of(rounds.stream().mapToDouble(figure).boxed().toList()).median();
    }

    /** Per round: a temporary slowdown of the machine affects both. */
    private static <T> Samples beside(List<T> rounds, List<T> none, ToDoubleFunction<T> figure) {
        return Samples.of(IntStream.range(0, rounds.size())
                .mapToObj(i -> figure.applyAsDouble(rounds.get(i)) / figure.applyAsDouble(none.get(i)))
                .toList());
    }
}
