package io.github.roost.bench.disk;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.policy.StallStats;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.DiskTableStats;
import io.github.roost.index.disk.MutableDiskTable;
import io.github.roost.index.disk.ReadMode;
import io.github.roost.io.BlockIo;
import io.github.roost.io.BlockIo.Backend;
import io.github.roost.testkit.Mixture;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;

/**
 * Question: how many updates per second does a table on disk accept while it is searched, and how much slower do its searches get, by the way in
 * which updates run ({@link Rung})? Baseline: no updates.
 *
 * <p>All ways use the same table, workers and disk for one slice of time each, in an order that rotates from round to round; an unmeasured lead-in
 * before each slice lets adaptive policies learn. Searches are a closed loop with one search per worker; inserts and deletes alternate, with some
 * tens in flight.
 */
public final class StallsBench {
    /**
     * One way in one round.
     *
     * @param searchesPerSecond of the closed loop
     * @param p50us median latency of a search, in microseconds
     * @param p99us 99th percentile, in microseconds
     * @param updatesPerSecond acknowledged inserts and deletes
     * @param readsPerSearch pages read per search; fewer if more rows have changed since the last checkpoint
     * @param stalledShare share of the searches' time spent waiting for reads
     * @param pruneShare share of the updates' time, on all threads, spent choosing neighbours
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

    /**
     * The settings.
     *
     * @param rows of the table
     * @param leadIn time before each measurement
     * @param slice time of each way per round
     * @param rounds measured rounds, after one unmeasured round
     * @param mode of the searches
     */
    public record Plan(int rows, Duration leadIn, Duration slice, int rounds, ReadMode mode) {}

    private static final int DIMENSION = 128;
    private static final int CENTRES = 64;
    private static final int K = 10;
    private static final int WIDTH = 64;
    /** The orchestrator's default number of polls before a worker sleeps. */
    private static final int LOOKS = 1_000;

    private final Path folder;
    private final Plan plan;
    private final AtomicBoolean sleeps = new AtomicBoolean();

    /**
     * Creates a benchmark; measures nothing yet.
     *
     * @param folder on the disk to measure; files written there are deleted
     */
    public StallsBench(Path folder, Plan plan) {
        this.folder = folder;
        this.plan = plan;
    }

    /** Measures updates in slices of 5 us and of a millisecond; returns the outcomes of each way, per round. */
    public Map<String, List<Outcome>> slices() throws IOException, InterruptedException {
        return run(Rung.slices());
    }

    /**
     * Measures all ways; returns the outcomes of each way, per round.
     *
     * @param targets latency targets, as shares
     * @param names of the ways to measure in addition to searches without updates; empty for all
     */
    public Map<String, List<Outcome>> ladder(List<Double> targets, List<String> names)
            throws IOException, InterruptedException {
        return run(Rung.ladder(targets).stream()
                .filter(rung -> names.isEmpty() || !rung.updates() || names.contains(rung.name()))
                .toList());
    }

    private Map<String, List<Outcome>> run(List<Rung> rungs) throws IOException, InterruptedException {
        Path place = Files.createTempDirectory(folder, "roost-stalls-");
        try (Orchestrator orchestrator = Orchestrator.builder()
                        .idleStrategy(looks -> looks < LOOKS && !sleeps.get())
                        .build();
                BlockIo io = BlockIo.builder(orchestrator).build();
                BlockIo blocking =
                        BlockIo.builder(orchestrator).backend(Backend.BLOCKING).build()) {
            SplittableRandom random = new SplittableRandom(1);
            Mixture mixture = Mixture.of(CENTRES, DIMENSION, random);
            Path file = place.resolve("table");
            DiskTable.builder()
                    .build(
                            orchestrator,
                            io,
                            file,
                            LongStream.range(0, plan.rows).toArray(),
                            UpdateFeed.rows(mixture, plan.rows, random));
            Map<String, List<Outcome>> outcomes = new LinkedHashMap<>();
            rungs.forEach(rung -> outcomes.put(rung.name(), new ArrayList<>()));
            float[][] queries = UpdateFeed.queries(mixture, 1_000, random);
            UpdateFeed updates = new UpdateFeed(mixture, plan.rows, 2);
            for (int round = -1; round < plan.rounds; round++) {
                for (Rung rung : shuffled(rungs, random)) {
                    BlockIo reads = rung.reads() == Backend.BLOCKING ? blocking : io;
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
            delete(place);
        }
    }

    /** The order of a round: random, since what a way leaves behind (writes that the disk still does, say) affects the next one. */
    static List<Rung> shuffled(List<Rung> rungs, SplittableRandom random) {
        List<Rung> order = new ArrayList<>(rungs);
        Collections.shuffle(order, Random.from(random));
        return order;
    }

    /** Deletes a folder and the files in it. */
    static void delete(Path place) throws IOException {
        try (var files = Files.list(place)) {
            for (Path one : files.toList()) {
                Files.delete(one);
            }
        }
        Files.delete(place);
    }

    private Outcome measure(
            Orchestrator orchestrator, MutableDiskTable table, UpdateFeed updates, float[][] queries, Rung rung)
            throws InterruptedException {
        sleeps.set(rung.sleeps());
        table.updateSlice(rung.slice());
        table.updateThread(rung.thread());
        table.pageReads(4, plan.mode);
        table.prefetch(rung.prefetch());
        orchestrator.stalls(rung.policy());
        AtomicBoolean goesOn = new AtomicBoolean(rung.updates());
        Thread feeder = Thread.ofPlatform().name("stalls-updates").start(() -> updates.both(table, goesOn));
        search(orchestrator, table, queries, plan.leadIn);
        StallStats stallsBefore = orchestrator.stallStats();
        DiskTableStats before = table.diskStats();
        ClosedLoop.Run run = search(orchestrator, table, queries, plan.slice);
        DiskTableStats after = table.diskStats();
        StallStats stallsAfter = orchestrator.stallStats();
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
