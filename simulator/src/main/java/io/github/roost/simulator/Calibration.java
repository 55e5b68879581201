package io.github.roost.simulator;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.topology.system.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;

/**
 * Measures, on the machine that it runs on, the simulator's assumptions about searches and about this machine:
 * latencies by pointer chasing through memory of a given size; the cost of searches by searching tables that fit the
 * private cache, and tables that fit no cache. Each figure is the min of several rounds, because other processes can
 * only add to it.
 */
public final class Calibration {
    private static final int ROUNDS = 9;
    private static final int LINE = Memory.LINE_BYTES;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final double MIB = 1 << 20;
    /** Sizes are tried in steps of one eighth of the whole cache. */
    private static final int SHARE_STEPS = 8;

    private static final int SHARE_ROUNDS = 3;
    private static final int CHASES = 2_000_000;
    private static final int TASKS = 200_000;
    private static final int REGIONS = 2_000;
    private static final int ARRIVALS = 4_000;
    private static final long BETWEEN_ARRIVALS_NANOS = 100_000;
    /** Never opens, so that no other worker helps the measured one. */
    private static final CrossDomainGate SHUT = new CrossDomainGate(Long.MAX_VALUE);

    private final Parameters before;

    private final Consumer<String> progress;

    /**
     * @param before source of the values that are not measured
     * @param progress receives each measurement, and how well the costs explain it
     */
    public Calibration(Parameters before, Consumer<String> progress) {
        this.before = before;
        this.progress = progress;
    }

    /** Returns the parameters with a machine {@code here} and the costs of searches on it. */
    public Parameters run() throws Exception {
        Topology l2 = TopologyReader.live().level(DomainLevel.L2).read();
        CacheDomain l3 = TopologyReader.live().read().domains().getFirst();
        double l2Bytes = l2.domains().getFirst().cacheBytes();
        double l3Nanos = min(() -> chase((long) (l2Bytes * 6)));
        double dramNanos = min(() -> chase(l3.cacheBytes() * 12));
        double l3Bytes = l3Share((double) l3.cacheBytes(), (l3Nanos + dramNanos) / 2);
        progress.accept("last-level cache of %.0f MiB, of which this machine gets %.1f MiB"
                .formatted(l3.cacheBytes() / MIB, l3Bytes / MIB));
        double taskNanos = min(Calibration::taskNanos);
        // The costs are measured first, so that the JIT has compiled the searches before their stalls are measured.
        Parameters.LinesInFlight any = new Parameters.LinesInFlight(1, 1);
        Parameters.Visits graphSearches = VisitCalibration.graphSearches(any, progress);
        Parameters.Visits exact = VisitCalibration.exact(any, progress);
        Parameters.Scans scans = new ScanCalibration(taskNanos, progress).run(any);
        StallCalibration stalls = new StallCalibration(l3Bytes, l3.cacheBytes(), l3Nanos, dramNanos, progress);
        List<Parameters.LinesInFlight> ofGraphs = stalls.graphs();
        Parameters.Tasks tasks = new Parameters.Tasks(
                taskNanos,
                before.tasks().wakeNanos(),
                min(Calibration::forkJoinNanos),
                lateNanos(),
                graphSearches.with(ofGraphs.getFirst()),
                exact.with(ofGraphs.getLast()),
                scans.with(stalls.scans()));
        Parameters.Machine genoa = before.machine("genoa");
        Parameters.Machine here = new Parameters.Machine(
                "the machine that was measured",
                1,
                1,
                l2.domains().size(),
                l2Bytes / 1024,
                l3Bytes / MIB,
                l3Nanos,
                dramNanos,
                genoa.linkGBs(),
                1,
                genoa.packageGBs(),
                1);
        return before.with("here", here, tasks);
    }

    private static double min(DoubleSupplier measurement) {
        return IntStream.range(0, ROUNDS)
                .mapToDouble(round -> measurement.getAsDouble())
                .min()
                .orElseThrow();
    }

    /**
     * The part of a last-level cache that this machine gets: a virtual machine shares it with others. It is the size of
     * memory of which half the lines hit the cache.
     *
     * @param halfway the latency at that size
     */
    private static double l3Share(double whole, double halfway) {
        double below = whole / SHARE_STEPS;
        double nanosBelow = 0;
        for (int step = 2; step <= 2 * SHARE_STEPS; step++) {
            double bytes = whole * step / SHARE_STEPS;
            double nanos = IntStream.range(0, SHARE_ROUNDS)
                    .mapToDouble(round -> chase(Math.round(bytes / LINE) * LINE))
                    .min()
                    .orElseThrow();
            if (nanos >= halfway) {
                double share = nanosBelow == 0 ? 1 : (halfway - nanosBelow) / (nanos - nanosBelow);
                return Math.min(whole, below + share * (bytes - below));
            }
            below = bytes;
            nanosBelow = nanos;
        }
        return whole;
    }

    /** Nanoseconds per step along a random cycle of cache lines, each of which holds the address of the next. */
    private static double chase(long bytes) {
        int lines = Math.toIntExact(bytes / LINE);
        int[] order = new int[lines];
        Arrays.setAll(order, i -> i);
        SplittableRandom random = new SplittableRandom(1);
        for (int i = lines - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int other = order[j];
            order[j] = order[i];
            order[i] = other;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = DomainMemory.allocate(bytes, arena);
            for (int i = 0; i < lines; i++) {
                memory.set(LONG, (long) order[i] * LINE, (long) order[(i + 1) % lines] * LINE);
            }
            long at = follow(memory, 0, lines);
            long began = System.nanoTime();
            at = follow(memory, at, CHASES);
            long nanos = System.nanoTime() - began;
            return at < 0 ? 0 : (double) nanos / CHASES;
        }
    }

    private static long follow(MemorySegment memory, long from, int steps) {
        long at = from;
        for (int i = 0; i < steps; i++) {
            at = memory.get(LONG, at);
        }
        return at;
    }

    /** Time per task if each task submits the next, as searches of a closed loop do. */
    private static double taskNanos() {
        Topology pinned = TopologyReader.live().level(DomainLevel.L2).read();
        try (Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(pinned)
                .crossDomainGate(SHUT)
                .build()) {
            MappingId id = orchestrator.register("tasks").id();
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            long began = System.nanoTime();
            submitNext(orchestrator, id, TASKS, done);
            done.join();
            return (double) (System.nanoTime() - began) / TASKS;
        }
    }

    private static void submitNext(Orchestrator orchestrator, MappingId id, int left, CompletableFuture<Boolean> done) {
        SearchFunction<Integer, Boolean> next = (nothing, context) -> {
            if (left == 0) {
                return done.complete(true);
            }
            submitNext(orchestrator, id, left - 1, done);
            return true;
        };
        var _ = orchestrator.submit(next, 0, id);
    }

    /**
     * How late a thread is that sleeps until a search is due and then submits it to sleeping workers: the median, since
     * every search of an open loop is submitted this way. The tasks do nothing, so nothing competes for the cores.
     */
    private static double lateNanos() {
        Topology pinned = TopologyReader.live().level(DomainLevel.L2).read();
        try (Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(pinned)
                .crossDomainGate(SHUT)
                .build()) {
            MappingId id = orchestrator.register("arrivals").id();
            SearchFunction<Integer, Boolean> nothing = (query, context) -> true;
            double[] late = new double[ARRIVALS];
            long due = System.nanoTime();
            for (int arrival = 0; arrival < ARRIVALS; arrival++) {
                due = Math.max(due, System.nanoTime()) + BETWEEN_ARRIVALS_NANOS;
                for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                late[arrival] = System.nanoTime() - due;
                var _ = orchestrator.submit(nothing, 0, id);
            }
            Arrays.sort(late);
            return late[ARRIVALS / 2];
        }
    }

    /** Time to give each worker an empty task and to wait for all of them, repeatedly. */
    private static double forkJoinNanos() {
        Topology pinned = TopologyReader.live().level(DomainLevel.L2).read();
        try (Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(pinned)
                .scheduling(SchedulingPolicy.ROUND_ROBIN)
                .build()) {
            MappingId id = orchestrator.register("regions").id();
            int workers = Math.toIntExact(pinned.cores().count());
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            long began = System.nanoTime();
            forkNext(orchestrator, id, workers, REGIONS, done);
            done.join();
            return (double) (System.nanoTime() - began) / REGIONS;
        }
    }

    private static void forkNext(
            Orchestrator orchestrator, MappingId id, int workers, int left, CompletableFuture<Boolean> done) {
        SearchFunction<Integer, Boolean> nothing = (query, context) -> true;
        CompletableFuture<?>[] parts = new CompletableFuture<?>[workers];
        Arrays.setAll(parts, worker -> orchestrator.submit(nothing, 0, id));
        var _ = CompletableFuture.allOf(parts).thenRun(() -> {
            if (left == 0) {
                done.complete(true);
            } else {
                forkNext(orchestrator, id, workers, left - 1, done);
            }
        });
    }
}
