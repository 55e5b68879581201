package io.github.roost.bench.disk;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.Mixture;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.io.BlockIo;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.index.disk.DiskSearch;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.DiskTableStats;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;

/**
 * Question: how many updates a second does a table on disk take while it is searched, and what do its searches pay for that, where
 * updates run in slices of 5 us, or in coarse ones, which is what work that cannot be stopped does? Baseline: no updates.
 *
 * <p>All ways use the same table, workers and disk for a slice of time each, in an order that turns with the round. Searches are a
 * closed loop with one per worker; updates are inserts and deletes by turns, some tens under way.
 */
public final class StallsBench {
    /** How updates run. */
    public enum Way {
        /** The baseline. */
        NONE(Duration.ofNanos(5_000)),
        /** In slices of a millisecond: most of an update at once. */
        COARSE(Duration.ofMillis(1)),
        /** In slices of 5 us. */
        SPLIT(Duration.ofNanos(5_000));

        private final Duration slice;

        Way(Duration slice) {
            this.slice = slice;
        }
    }

    /**
     * A way in one round.
     *
     * @param searchesPerSecond of the closed loop
     * @param p50us median latency of a search, in microseconds
     * @param p99us 99th percentile
     * @param updatesPerSecond inserts and deletes that were acknowledged
     * @param stalledShare part of the searches' time in which they waited for reads
     * @param pruneShare part of the updates' time on workers in which neighbours were chosen
     */
    public record Outcome(
            double searchesPerSecond,
            double p50us,
            double p99us,
            double updatesPerSecond,
            double stalledShare,
            double pruneShare) {}

    private static final int DIMENSION = 64;
    private static final int CENTRES = 64;
    private static final int UPDATES_UNDER_WAY = 32;
    private static final int K = 10;
    private static final int WIDTH = 64;

    private final Path folder;
    private final int rows;
    private final Duration slice;

    /**
     * A run.
     *
     * @param folder on the disk to measure; what is written there is deleted
     * @param rows of the table
     * @param slice time of each way in a round
     */
    public StallsBench(Path folder, int rows, Duration slice) {
        this.folder = folder;
        this.rows = rows;
        this.slice = slice;
    }

    /** Runs all ways so many times; gives the outcomes of each by round. */
    public Map<Way, List<Outcome>> run(int rounds) throws IOException, InterruptedException {
        Path place = Files.createTempDirectory(folder, "roost-stalls-");
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                BlockIo io = BlockIo.builder(orchestrator).build()) {
            SplittableRandom random = new SplittableRandom(1);
            Mixture mixture = Mixture.of(CENTRES, DIMENSION, random);
            Path file = place.resolve("table");
            DiskTable.builder()
                    .build(orchestrator, io, file, LongStream.range(0, rows).toArray(), mixture.draw(rows, random));
            Map<Way, List<Outcome>> outcomes = new EnumMap<>(Way.class);
            try (DiskTable table = DiskTable.open(orchestrator, io, "stalls", file)) {
                Updates updates = new Updates(table, mixture, rows);
                float[][] queries = mixture.draw(1_000, random);
                for (int round = -1; round < rounds; round++) {
                    for (int turn = 0; turn < Way.values().length; turn++) {
                        Way way = Way.values()[Math.floorMod(turn + round, Way.values().length)];
                        Outcome outcome = measure(table, updates, queries, way, orchestrator.workers());
                        if (round >= 0) {
                            outcomes.computeIfAbsent(way, same -> new ArrayList<>())
                                    .add(outcome);
                        }
                    }
                }
            }
            return outcomes;
        } finally {
            try (var files = Files.list(place)) {
                for (Path one : files.toList()) {
                    Files.delete(one);
                }
            }
            Files.delete(place);
        }
    }

    private Outcome measure(DiskTable table, Updates updates, float[][] queries, Way way, int workers)
            throws InterruptedException {
        table.updateSlice(way.slice);
        AtomicBoolean goesOn = new AtomicBoolean(way != Way.NONE);
        DiskTableStats before = table.diskStats();
        Thread feeder = Thread.ofPlatform().name("stalls-updates").start(() -> updates.run(goesOn));
        ClosedLoop.Run run = new ClosedLoop(workers)
                .run(
                        Long.MAX_VALUE,
                        slice,
                        number -> table.search(
                                queries[(int) (number % queries.length)],
                                DiskSearch.of(K, WIDTH),
                                SubmitOptions.DEFAULT),
                        (number, answer) -> {});
        DiskTableStats after = table.diskStats();
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
                stalled / Math.max(1, stalled + busy),
                (double) (after.pruneNanos() - before.pruneNanos())
                        / Math.max(1, after.updateNanos() - before.updateNanos()));
    }

    /** Deleted nodes are still taken out of the graph when the last update is done. */
    private static void awaitRest(DiskTable table) throws InterruptedException {
        long before;
        do {
            before = table.diskStats().updateNanos();
            TimeUnit.MILLISECONDS.sleep(20);
        } while (table.diskStats().updateNanos() != before);
    }

    /** Inserts new rows and deletes the oldest, by turns. One thread at a time. */
    private static final class Updates {
        private final DiskTable table;
        private final Mixture mixture;
        private final SplittableRandom random = new SplittableRandom(2);
        private long oldest;
        private long next;

        Updates(DiskTable table, Mixture mixture, int rows) {
            this.table = table;
            this.mixture = mixture;
            this.next = rows;
        }

        void run(AtomicBoolean goesOn) {
            Queue<CompletableFuture<Boolean>> underWay = new ArrayDeque<>();
            while (goesOn.get()) {
                underWay.add(table.putLater(next++, mixture.draw(random)));
                underWay.add(table.removeLater(oldest++));
                while (underWay.size() > UPDATES_UNDER_WAY) {
                    underWay.remove().join();
                }
            }
            underWay.forEach(CompletableFuture::join);
        }
    }
}
