package io.github.roost.bench.disk;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.disk.UpdateWorkersBench.Kind;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.MutableDiskTable;
import io.github.roost.index.disk.stall.StallPolicy;
import io.github.roost.io.BlockIo;
import io.github.roost.io.BlockIo.Backend;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.Options;
import io.github.roost.testkit.Mixture;
import io.github.roost.testkit.TemporaryFolder;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: how many updates per second does a table on disk accept while it is searched, and how much slower do its searches get, by the way in
 * which updates run ({@link Rung})? Baseline: no updates.
 *
 * <p>All ways use the same table, workers and disk for one slice of time each, in an order that rotates from round to round; an unmeasured lead-in
 * before each slice lets adaptive policies learn. Searches are a closed loop with one search per worker; inserts and deletes alternate, with some
 * tens in flight.
 */
@Command(
        name = "stalls",
        description = "Updates of a table on disk concurrent with searches, compared by update mechanism.")
public final class StallsBench implements Callable<Integer> {
    private static final int SLICE_MILLIS = 1_000;
    private static final int LADDER_SLICE_MILLIS = 3_000;
    private static final int LADDER_LEAD_IN_MILLIS = 2_000;

    private static final double[] SPLIT_TARGETS = {Double.NaN, .02, .05, .1, .2};
    private static final int[] SPLIT_SEARCHERS = {4, 16, 28};
    private static final int SPLIT_WORKERS = 32;
    private static final double MIB = 1 << 20;
    private static final int SPLIT_CYCLES = 100_000;
    private static final long SPLIT_SEED = 1;

    private static final int DIMENSION = 128;
    private static final int CENTERS = 64;
    private static final int K = 10;
    private static final int WIDTH = 64;
    /** The orchestrator's default number of polls before a worker sleeps. */
    private static final int LOOKS = 1_000;

    /**
     * One way in one round.
     *
     * @param searchesPerSecond of the closed loop
     * @param p50us median latency of a search, in microseconds
     * @param p99us 99th percentile, in microseconds
     * @param updatesPerSecond acknowledged inserts and deletes
     * @param readsPerSearch pages read per search; fewer if more rows have changed since the last checkpoint
     * @param stalledShare share of the searches' time spent waiting for reads
     * @param pruneShare share of the updates' time, on all threads, spent choosing neighbors
     * @param filledShare share of the measured stalls in which maintenance ran; 0 if no stalls were measured
     * @param share of stalls that a latency target leaves to maintenance at the end; 1 without a target
     * @param slowdown relative increase of the time of searches over empty stalls, as the policy measured it at the end; 0 without a target
     */
    public record Outcome(
            double searchesPerSecond,
            double p50us,
            double p99us,
            double updatesPerSecond,
            double readsPerSearch,
            double stalledShare,
            double pruneShare,
            double filledShare,
            double share,
            double slowdown) {}

    /** Parts of the ladder. */
    enum Part {
        both,
        inserts,
        deletes
    }

    @Option(
            names = "--ladder",
            description = {
                "All ways: an update thread, an update thread of idle priority, whole updates in stalls, and one"
                        + " mechanism",
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
            names = "--kind",
            split = ",",
            paramLabel = "both|inserts|deletes",
            description = {
                "Parts of the ladder, default all: inserts and deletes in turns, with an update thread; inserts alone,"
                        + " and deletes",
                "alone, with workers that only do updates. Deletes are measured until their rows are out of the graph,"
                        + " at most for --slice-millis."
            })
    private List<Part> parts = List.of(Part.values());

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

    private final @Mixin StallOptions plan = new StallOptions();
    private final @Mixin JsonOutput output = new JsonOutput();

    private final AtomicBoolean sleeps = new AtomicBoolean();

    @Override
    public Integer call() throws IOException, InterruptedException {
        plan.check(ladder ? LADDER_SLICE_MILLIS : SLICE_MILLIS, ladder || record != null ? LADDER_LEAD_IN_MILLIS : 0);
        for (double target : targets) {
            Options.require("--target", (int) Math.ceil(target), 1, 100);
        }
        Map<String, Object> results = new LinkedHashMap<>();
        Path into = record;
        if (into != null) {
            for (Kind kind : Kind.values()) {
                Files.writeString(
                        into.resolve(StallRecording.fileName(kind)),
                        new UpdateWorkersBench(plan).record(kind).text());
            }
        } else if (splits) {
            for (Kind kind : Kind.values()) {
                results.put(Options.name(kind), split(kind));
            }
        } else if (!ladder) {
            beside(run(Rung.slices()), results);
        } else {
            List<Double> shares = targets.stream().map(percent -> percent / 100).toList();
            if (parts.contains(Part.both)) {
                beside(ladder(shares), results);
            }
            if (parts.contains(Part.inserts)) {
                besideUpdateWorkers(Kind.INSERTS, shares, results);
            }
            if (parts.contains(Part.deletes)) {
                besideUpdateWorkers(Kind.DELETES, shares, results);
            }
        }
        output.print(Map.of("results", results));
        return 0;
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
        output.format(
                "%-9s  target  filled by  updates/s    over empty stalls  searches longer by  share",
                Options.name(kind));
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
                    output.format(
                            "%-9s  %6s  %-9s  %9.0f  %19.2f  %16.1f %%  %5.2f",
                            split,
                            percent,
                            way,
                            outcome.updatesPerSecond(),
                            outcome.besideEmpty(),
                            100 * outcome.longer(),
                            outcome.share());
                }
            }
        }
        return results;
    }

    private void besideUpdateWorkers(Kind kind, List<Double> shares, Map<String, Object> results)
            throws IOException, InterruptedException {
        UpdateWorkersBench bench = new UpdateWorkersBench(plan);
        Map<String, List<UpdateWorkersBench.Outcome>> outcomes = bench.measure(kind, shares);
        List<UpdateWorkersBench.Outcome> empty = outcomes.getOrDefault("update workers", List.of());
        output.format(
                "%-18s  updates/s  over update workers      searches longer by (mean)    P50 us  over update workers  "
                        + "   P99 us  over update workers    filled  share  slowdown",
                Options.name(kind));
        outcomes.forEach((way, measured) -> {
            results.put(Options.name(kind) + ", " + way, measured);
            Samples longer = beside(measured, empty, UpdateWorkersBench.Outcome::meanMicros);
            output.format(
                    "%-18s  %9.0f  %-21s  %5.1f %% (%5.1f to %5.1f)  %8.0f  %-21s  %7.0f  %-21s  %4.0f %%  %5.2f "
                            + " %6.1f %%",
                    way,
                    median(measured, UpdateWorkersBench.Outcome::updatesPerSecond),
                    beside(measured, empty, UpdateWorkersBench.Outcome::updatesPerSecond)
                            .spread("%4.2f"),
                    100 * (longer.median() - 1),
                    100 * (longer.least() - 1),
                    100 * (longer.most() - 1),
                    median(measured, UpdateWorkersBench.Outcome::p50us),
                    beside(measured, empty, UpdateWorkersBench.Outcome::p50us).spread("%4.2f"),
                    median(measured, UpdateWorkersBench.Outcome::p99us),
                    beside(measured, empty, UpdateWorkersBench.Outcome::p99us).spread("%4.2f"),
                    100 * median(measured, UpdateWorkersBench.Outcome::filledShare),
                    median(measured, UpdateWorkersBench.Outcome::share),
                    100 * median(measured, UpdateWorkersBench.Outcome::slowdown));
        });
        bench.places()
                .forEach(place -> output.format(
                        "%s: home %s, %,d searches; MiB of codes %,.0f, of changed pages %,.0f, through the page cache"
                                + " %,.0f, from the device %,.0f",
                        place.name(),
                        place.homes(),
                        place.searches(),
                        place.traffic().codes() / MIB,
                        place.traffic().changedPages() / MIB,
                        place.traffic().pageCache() / MIB,
                        place.traffic().device() / MIB));
        results.put(Options.name(kind) + ", tables", bench.places());
    }

    private void beside(Map<String, List<Outcome>> outcomes, Map<String, Object> results) {
        List<Outcome> none = outcomes.getOrDefault("none", List.of());
        List<Outcome> thread = outcomes.getOrDefault("thread", none);
        output.line(
                "updates            searches/s     longer by (mean)         P50 us  over none            P99 us  over"
                        + " none          updates/s  over thread          reads  stalled  prune  filled");
        List<Outcome> blocking = outcomes.getOrDefault("none blocking", none);
        outcomes.forEach((way, measured) -> {
            results.put(way, measured);
            List<Outcome> base = way.equals("idle blocking") ? blocking : none;
            Samples longer = beside(base, measured, Outcome::searchesPerSecond);
            Samples p50 = beside(measured, base, Outcome::p50us);
            Samples p99 = beside(measured, base, Outcome::p99us);
            String updates = way.startsWith("none") || !ladder
                    ? ""
                    : beside(measured, thread, Outcome::updatesPerSecond).spread("%4.2f");
            output.format(
                    "%-18s %10.0f  %5.1f %% (%5.1f to %5.1f)  %8.0f  %s  %8.0f  %s  %9.0f  %-19s  %6.1f  %4.0f %% "
                            + " %4.0f %%  %4.0f %%",
                    way,
                    median(measured, Outcome::searchesPerSecond),
                    100 * (longer.median() - 1),
                    100 * (longer.least() - 1),
                    100 * (longer.most() - 1),
                    median(measured, Outcome::p50us),
                    p50.spread("%4.2f"),
                    median(measured, Outcome::p99us),
                    p99.spread("%4.2f"),
                    median(measured, Outcome::updatesPerSecond),
                    updates,
                    median(measured, Outcome::readsPerSearch),
                    100 * median(measured, Outcome::stalledShare),
                    100 * median(measured, Outcome::pruneShare),
                    100 * median(measured, Outcome::filledShare));
        });
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

    /**
     * Measures all ways; returns the outcomes of each way, per round.
     *
     * @param shares latency targets
     */
    private Map<String, List<Outcome>> ladder(List<Double> shares) throws IOException, InterruptedException {
        return run(Rung.ladder(shares).stream()
                .filter(rung -> ways.isEmpty() || !rung.updates() || ways.contains(rung.name()))
                .toList());
    }

    private Map<String, List<Outcome>> run(List<Rung> rungs) throws IOException, InterruptedException {
        try (TemporaryFolder place = new TemporaryFolder(plan.folder.path(), "roost-stalls-");
                Orchestrator orchestrator = Orchestrator.builder()
                        .recallShare(0)
                        .idleStrategy(looks -> looks < LOOKS && !sleeps.get())
                        .build();
                BlockIo io = BlockIo.builder(orchestrator).build();
                BlockIo blocking =
                        BlockIo.builder(orchestrator).backend(Backend.BLOCKING).build()) {
            SplittableRandom random = new SplittableRandom(1);
            Mixture mixture = Mixture.of(CENTERS, DIMENSION, random);
            Path file = place.resolve("table");
            DiskTable.builder()
                    .build(
                            orchestrator,
                            io,
                            file,
                            LongStream.range(0, plan.rows.value()).toArray(),
                            UpdateFeed.rows(mixture, plan.rows.value(), random));
            Map<String, List<Outcome>> outcomes = new LinkedHashMap<>();
            rungs.forEach(rung -> outcomes.put(rung.name(), new ArrayList<>()));
            float[][] queries = UpdateFeed.queries(mixture, 1_000, random);
            UpdateFeed updates = new UpdateFeed(mixture, plan.rows.value(), 2);
            for (int round = -1; round < plan.rounds.value(); round++) {
                for (Rung rung : shuffled(rungs, random)) {
                    BlockIo reads = rung.reads() == Backend.BLOCKING ? blocking : io;
                    System.setProperty(Rung.THREAD_PROPERTY, rung.thread());
                    // Each measurement begins without changed pages in memory, which searches would not have to read.
                    try (MutableDiskTable table = DiskTable.open(orchestrator, reads, "stalls", file)) {
                        Outcome outcome = measure(orchestrator, table, updates, queries, rung);
                        if (round >= 0) {
                            outcomes.computeIfAbsent(rung.name(), same -> new ArrayList<>())
                                    .add(outcome);
                        }
                    }
                }
            }
            return outcomes;
        } finally {
            System.clearProperty(Rung.THREAD_PROPERTY);
        }
    }

    /** The order of a round: random, since what a way leaves behind (writes that the disk still does, say) affects the next one. */
    static List<Rung> shuffled(List<Rung> rungs, SplittableRandom random) {
        List<Rung> order = new ArrayList<>(rungs);
        Collections.shuffle(order, Random.from(random));
        return order;
    }

    private Outcome measure(
            Orchestrator orchestrator, MutableDiskTable table, UpdateFeed updates, float[][] queries, Rung rung)
            throws InterruptedException {
        sleeps.set(rung.sleeps());
        table.updateSlice(rung.slice());
        table.pageReads(4, plan.mode());
        table.prefetch(rung.prefetch());
        StallPolicy.Rules stalls = rung.policy().applyTo(orchestrator);
        AtomicBoolean goesOn = new AtomicBoolean(rung.updates());
        Thread feeder = Thread.ofPlatform().name("stalls-updates").start(() -> updates.both(table, goesOn));
        search(orchestrator, table, queries, plan.leadIn());
        StallPolicy.Stats stallsBefore = stalls.stats();
        DiskTable.Stats before = table.diskStats();
        ClosedLoop.Run run = search(orchestrator, table, queries, plan.slice());
        DiskTable.Stats after = table.diskStats();
        StallPolicy.Stats stallsAfter = stalls.stats();
        goesOn.set(false);
        feeder.join();
        awaitRest(table);
        double stalled = after.stalledNanos() - before.stalledNanos();
        double busy = after.busyNanos() - before.busyNanos();
        return new Outcome(
                run.perSecond(),
                run.latencies().p50us(),
                run.latencies().p99us(),
                (after.updates() - before.updates()) / (run.elapsed().toNanos() / 1e9),
                (double) (after.pagesRead() - before.pagesRead()) / Math.max(1, after.searches() - before.searches()),
                stalled / Math.max(1, stalled + busy),
                (double) (after.pruneNanos() - before.pruneNanos())
                        / Math.max(1, after.updateNanos() - before.updateNanos()),
                (double) (stallsAfter.filledNanos() - stallsBefore.filledNanos())
                        / Math.max(1, stallsAfter.stalledNanos() - stallsBefore.stalledNanos()),
                stallsAfter.share(),
                stallsAfter.slowdown());
    }

    private ClosedLoop.Run search(Orchestrator orchestrator, MutableDiskTable table, float[][] queries, Duration time)
            throws InterruptedException {
        return new ClosedLoop(orchestrator.workers())
                .run(
                        Long.MAX_VALUE,
                        time,
                        number -> table.search(queries[(int) (number % queries.length)], K, WIDTH),
                        (number, answer) -> {});
    }

    /** Waits until the table is quiet: it still removes deleted nodes from the graph after the last update. */
    static void awaitRest(MutableDiskTable table) throws InterruptedException {
        long before;
        do {
            before = table.diskStats().updateNanos();
            TimeUnit.MILLISECONDS.sleep(20);
        } while (table.diskStats().updateNanos() != before);
    }
}
