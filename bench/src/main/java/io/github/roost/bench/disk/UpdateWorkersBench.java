package io.github.roost.bench.disk;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.MutableDiskTable;
import io.github.roost.index.disk.stall.StallPolicy;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Mixture;
import io.github.roost.testkit.TemporaryFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import jdk.jfr.Recording;

/**
 * Question: if half of the workers search and the others run only updates, how many more updates are done when the searching workers run some in
 * their stalls too, and how much slower do their searches get? Baseline: the same workers with empty stalls. Measured for inserts only and for
 * deletes only; a delete counts when the row is removed from the graph.
 *
 * <p>There are as many tables as workers, with equal parts of the rows, searched and updated in turn, since the single writer of a table uses at
 * most one worker. The searches in flight are half as many as the workers.
 */
public final class UpdateWorkersBench {
    /** The kind of updates. */
    public enum Kind {
        INSERTS,
        DELETES
    }

    /**
     * One way in one round.
     *
     * @param p50us median latency of a search, in microseconds
     * @param p99us 99th percentile, in microseconds
     * @param meanMicros mean time of a search in the closed loop, in microseconds
     * @param updatesPerSecond acknowledged inserts, or deleted rows removed from the graph
     * @param updateNanos time per update on workers
     * @param filledShare share of the measured stalls in which maintenance ran; 0 if no stalls were measured
     * @param share of stalls that a latency target leaves to maintenance at the end; 1 without a target
     * @param slowdown relative increase of the time of searches over empty stalls, as the policy measured it at the end
     */
    public record Outcome(
            double p50us,
            double p99us,
            double meanMicros,
            double updatesPerSecond,
            double updateNanos,
            double filledShare,
            double share,
            double slowdown) {}

    private static final int DIMENSION = 128;
    private static final int CENTERS = 64;
    private static final int K = 10;
    private static final int WIDTH = 64;
    private static final Duration RECORDED = Duration.ofSeconds(3);
    private static final int UNRECORDED = 4;

    /**
     * The final state of one table.
     *
     * @param name of the table
     * @param homes its home domains at the end
     * @param searches of it
     * @param traffic of its searches and updates, by tier
     */
    public record Place(String name, List<Integer> homes, long searches, DiskTable.Stats.Traffic traffic) {}

    private final StallOptions plan;
    private List<Place> places = List.of();

    /** Creates a benchmark; measures nothing yet. */
    UpdateWorkersBench(StallOptions plan) {
        this.plan = plan;
    }

    /** The tables of the latest run. */
    public List<Place> places() {
        return places;
    }

    /** An action on open tables. */
    private interface Use<R> {
        R with(Tables tables) throws IOException, InterruptedException;
    }

    private record Tables(
            Orchestrator orchestrator, List<MutableDiskTable> tables, List<UpdateFeed> feeds, float[][] queries) {
        MutableDiskTable of(long number) {
            return tables.get((int) (number % tables.size()));
        }

        double updates(Kind kind) {
            return tables.stream()
                    .mapToDouble(table -> kind == Kind.INSERTS
                            ? table.diskStats().updates()
                            : table.diskStats().takenOut())
                    .sum();
        }

        void eachInParallel(BiConsumer<UpdateFeed, MutableDiskTable> action) {
            IntStream.range(0, feeds.size()).parallel().forEach(i -> action.accept(feeds.get(i), of(i)));
        }

        double updateNanos() {
            return tables.stream()
                    .mapToDouble(table -> table.diskStats().updateNanos())
                    .sum();
        }
    }

    /**
     * Measures the outcomes of each way, per round.
     *
     * @param targets latency targets, as shares
     */
    public Map<String, List<Outcome>> measure(Kind kind, List<Double> targets)
            throws IOException, InterruptedException {
        List<Rung> rungs = Rung.besideUpdateWorkers(targets);
        Map<String, List<Outcome>> outcomes = new LinkedHashMap<>();
        rungs.forEach(rung -> outcomes.put(rung.name(), new ArrayList<>()));
        SplittableRandom order = new SplittableRandom(1);
        return with(tables -> fed(tables, kind, () -> {
            for (int round = -1; round < plan.rounds.value(); round++) {
                for (Rung rung : StallsBench.shuffled(rungs, order)) {
                    Outcome outcome = measure(tables, kind, rung.policy());
                    if (round >= 0) {
                        outcomes.computeIfAbsent(rung.name(), same -> new ArrayList<>())
                                .add(outcome);
                    }
                }
            }
            return outcomes;
        }));
    }

    /** Records stalls and steps of a run in which all stalls may be filled, except those left empty for comparison. */
    public StallRecording record(Kind kind) throws IOException, InterruptedException {
        Path file = Files.createTempFile(plan.folder.path(), "roost-stalls-", ".jfr");
        try {
            return with(tables -> fed(tables, kind, () -> {
                // This is also the warm-up for the JIT.
                for (int i = 0; i < UNRECORDED; i++) {
                    measure(tables, kind, StallPolicy.POLLED.withLatencyTarget(1));
                }
                prepare(tables, kind);
                StallPolicy.POLLED.withLatencyTarget(1).applyTo(tables.orchestrator);
                Outcome outcome;
                try (Recording recording = new Recording()) {
                    recording.enable("io.github.roost.Stall").withoutThreshold();
                    recording.enable("io.github.roost.StallStep").withoutThreshold();
                    recording.start();
                    begin(tables, kind);
                    search(tables, RECORDED);
                    recording.stop();
                    recording.dump(file);
                    // Measured without recording: the events cost time that updates would include.
                    outcome = measure(tables, kind, StallPolicy.UNFILLED);
                }
                return StallRecording.of(file, outcome.updateNanos());
            }));
        } finally {
            Files.delete(file);
        }
    }

    private interface Body<R> {
        R run() throws IOException, InterruptedException;
    }

    private static <R> R fed(Tables tables, Kind kind, Body<R> body) throws IOException, InterruptedException {
        AtomicBoolean goesOn = new AtomicBoolean(true);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            try {
                List<Future<?>> feeds = new ArrayList<>();
                if (kind == Kind.INSERTS) {
                    for (int i = 0; i < tables.feeds.size(); i++) {
                        UpdateFeed feed = tables.feeds.get(i);
                        MutableDiskTable table = tables.of(i);
                        feeds.add(threads.submit(() -> feed.inserts(table, goesOn)));
                    }
                }
                R result = body.run();
                goesOn.set(false);
                for (Future<?> feed : feeds) {
                    feed.get();
                }
                return result;
            } catch (ExecutionException failed) {
                throw new IOException("updates failed: " + failed.getCause(), failed);
            } finally {
                goesOn.set(false);
            }
        }
    }

    /** Deletes rows, but not enough that the tables remove them from their graphs. Inserts need no preparation. */
    private static void prepare(Tables tables, Kind kind) throws InterruptedException {
        if (kind == Kind.DELETES) {
            for (MutableDiskTable table : tables.tables) {
                StallsBench.awaitRest(table);
            }
            tables.eachInParallel(UpdateFeed::prepareDeletes);
        }
    }

    /** Deletes enough rows that all tables begin to remove them. Inserts arrive all the time. */
    private static void begin(Tables tables, Kind kind) {
        if (kind == Kind.DELETES) {
            tables.eachInParallel(UpdateFeed::beginRemoval);
        }
    }

    /** Inserts are measured for a slice, deletes until their rows have been removed, or for a slice if that is sooner. */
    private BooleanSupplier measuring(Tables tables, Kind kind) {
        long end = System.nanoTime() + plan.slice().toNanos();
        return () -> System.nanoTime() - end < 0
                && (kind == Kind.INSERTS || !tables.tables.stream().allMatch(UpdateFeed::isRemovalOver));
    }

    private Outcome measure(Tables tables, Kind kind, StallPolicy policy) throws InterruptedException {
        prepare(tables, kind);
        StallPolicy.Rules stalls = policy.applyTo(tables.orchestrator);
        // Each measurement begins without changed pages in memory, which searches would not have to read.
        tables.tables.forEach(table -> table.checkpoint().join());
        search(tables, plan.leadIn());
        begin(tables, kind);
        StallPolicy.Stats stallsBefore = stalls.stats();
        double before = tables.updates(kind);
        double nanosBefore = tables.updateNanos();
        long began = System.nanoTime();
        ClosedLoop.Run run = search(tables, measuring(tables, kind));
        double seconds = (System.nanoTime() - began) / 1e9;
        double updates = tables.updates(kind) - before;
        double nanos = tables.updateNanos() - nanosBefore;
        StallPolicy.Stats stallsAfter = stalls.stats();
        return new Outcome(
                run.latencies().p50us(),
                run.latencies().p99us(),
                searchesUnderWay(tables.orchestrator) * 1e6 / run.perSecond(),
                updates / seconds,
                nanos / Math.max(1, updates),
                (double) (stallsAfter.filledNanos() - stallsBefore.filledNanos())
                        / Math.max(1, stallsAfter.stalledNanos() - stallsBefore.stalledNanos()),
                stallsAfter.share(),
                stallsAfter.slowdown());
    }

    private static int searchesUnderWay(Orchestrator orchestrator) {
        return Math.max(1, orchestrator.workers() / 2);
    }

    private ClosedLoop.Run search(Tables tables, Duration time) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        return search(tables, () -> System.nanoTime() - end < 0);
    }

    private ClosedLoop.Run search(Tables tables, BooleanSupplier goesOn) throws InterruptedException {
        float[][] queries = tables.queries;
        return new ClosedLoop(searchesUnderWay(tables.orchestrator))
                .runWhile(
                        goesOn,
                        number -> tables.of(number).search(queries[(int) (number % queries.length)], K, WIDTH),
                        (number, answer) -> {});
    }

    private <R> R with(Use<R> use) throws IOException, InterruptedException {
        try (TemporaryFolder place = new TemporaryFolder(plan.folder.path(), "roost-stalls-");
                Orchestrator orchestrator = Orchestrator.builder()
                        .recallShare(0)
                        .topology(plan.level.machine())
                        .build();
                BlockIo io = BlockIo.builder(orchestrator).build()) {
            SplittableRandom random = new SplittableRandom(1);
            Mixture mixture = Mixture.of(CENTERS, DIMENSION, random);
            int count = orchestrator.workers();
            int rows = plan.rows.value() / count;
            List<MutableDiskTable> tables = new ArrayList<>();
            List<UpdateFeed> feeds = new ArrayList<>();
            try {
                for (int i = 0; i < count; i++) {
                    Path file = place.resolve("table" + i);
                    DiskTable.builder()
                            .build(
                                    orchestrator,
                                    io,
                                    file,
                                    LongStream.range(0, rows).toArray(),
                                    UpdateFeed.rows(mixture, rows, random));
                    MutableDiskTable table = DiskTable.open(orchestrator, io, "stalls" + i, file);
                    table.pageReads(4, plan.mode());
                    tables.add(table);
                    feeds.add(new UpdateFeed(mixture, rows, 2 + i));
                }
                R result =
                        use.with(new Tables(orchestrator, tables, feeds, UpdateFeed.queries(mixture, 1_000, random)));
                places = tables.stream()
                        .map(table -> new Place(
                                table.name(),
                                orchestrator.homes(table.mappingId()),
                                table.diskStats().searches(),
                                table.diskStats().traffic()))
                        .toList();
                return result;
            } finally {
                tables.forEach(DiskTable::close);
            }
        }
    }
}
