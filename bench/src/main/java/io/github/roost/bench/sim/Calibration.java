package io.github.roost.bench.sim;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.peer.Workload;
import io.github.roost.core.MappingId;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.dispatch.CrossDomainGate;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.DomainMemory;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;

/**
 * Measures, on the machine that it runs on, what the simulator assumes about searches and about this machine: latencies
 * by chasing pointers through memory of a size, the cost of searches by searching tables that fit the private cache and
 * such as fit none. Each figure is the least of several rounds, since what else runs on a machine can only add to it.
 */
public final class Calibration {
    private static final int ROUNDS = 9;
    private static final int LINE = Memory.LINE_BYTES;
    private static final int LINKS_BYTES = 64;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final int CHASES = 2_000_000;
    private static final int EF = 50;
    private static final int SCANNED_DIMENSION = 128;
    private static final int GROUP = 16;
    /** Neighbours wanted of a search that wants many. */
    private static final int WIDE = 300;

    private static final int TASKS = 200_000;
    /** So that no other worker helps the one that is measured. */
    private static final CrossDomainGate SHUT = new CrossDomainGate(Integer.MAX_VALUE, 0);

    private final Parameters before;

    /** @param before what is not measured is taken from here */
    public Calibration(Parameters before) {
        this.before = before;
    }

    /** The parameters with a machine {@code here} and what searches cost on it. */
    public Parameters run() throws Exception {
        Topology l2 = TopologyReader.live().level(DomainLevel.L2).read();
        CacheDomain l3 = TopologyReader.live().read().domains().getFirst();
        double l2Bytes = l2.domains().getFirst().cacheBytes();
        double l3Nanos = least(() -> chase((long) (l2Bytes * 6)));
        double dramNanos = least(() -> chase(l3.cacheBytes() * 12));
        Parameters.Tasks tasks = new Parameters.Tasks(
                least(Calibration::taskNanos),
                before.tasks().wakeNanos(),
                before.tasks().forkJoinNanos(),
                hnsw(l3.cacheBytes(), l3Nanos, dramNanos),
                ivf(dramNanos),
                Math.max(0, (probeNanos(WIDE) - probeNanos(10)) / (WIDE - 10)),
                before.tasks().groupedLine());
        tasks = new Parameters.Tasks(
                tasks.taskNanos(),
                tasks.wakeNanos(),
                tasks.forkJoinNanos(),
                tasks.hnsw(),
                tasks.ivf(),
                tasks.groupedResultNanos(),
                groupedLine(tasks.ivf().lineNanos()));
        Parameters.Machine genoa = before.machine("genoa");
        Parameters.Machine here = new Parameters.Machine(
                "the machine that was measured",
                1,
                1,
                l2.domains().size(),
                l2Bytes / 1024,
                l3.cacheBytes() / (1024.0 * 1024),
                l3Nanos,
                dramNanos,
                genoa.linkGBs(),
                1,
                genoa.packageGBs(),
                1);
        return before.with("here", here, tasks);
    }

    private static double least(DoubleSupplier measurement) {
        return IntStream.range(0, ROUNDS)
                .mapToDouble(round -> measurement.getAsDouble())
                .min()
                .orElseThrow();
    }

    /** Nanoseconds from one line to the next, each of which names the next, in a random circle. */
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
            MemorySegment memory = DomainMemory.allocate(bytes, arena).segment();
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

    /**
     * What a line costs from rows of two widths in the private cache; the rest from a table in L3 and one that is larger,
     * since walks of tiny tables keep more of what they visit and so take longer for each.
     */
    private static Parameters.Kind hnsw(long l3Bytes, double l3Nanos, double dramNanos) throws Exception {
        double lineNanos = (walkNanosPerVisit(250, 512) - walkNanosPerVisit(1_200, 64)) / (lines(512) - lines(64));
        double bytesPerRow = lines(128) * LINE;
        int within = (int) (l3Bytes * .4 / bytesPerRow);
        int beyond = (int) (l3Bytes * 2 / bytesPerRow);
        double near = walkNanosPerVisit(within, 128);
        double far = walkNanosPerVisit(beyond, 128);
        // Of the large table, half is in L3.
        double latency = (l3Nanos + dramNanos) / 2;
        double linesInFlight = lines(128) * (latency - l3Nanos) / Math.max(.1, far - near);
        double itemNanos = near - lines(128) * (lineNanos + l3Nanos / linesInFlight);
        return new Parameters.Kind(
                Math.max(0, itemNanos), Math.max(0, lineNanos), linesInFlight, walkNanosPerResult(within, near));
    }

    private static int lines(int dimension) {
        return (dimension * Float.BYTES + LINKS_BYTES + LINE - 1) / LINE;
    }

    private static double walkNanosPerVisit(int rows, int dimension) throws Exception {
        return walk(rows, dimension, 10, EF).nanosPerVisit();
    }

    /** What wide searches take beyond their visits. */
    private static double walkNanosPerResult(int rows, double nanosPerVisit) throws Exception {
        Walk wide = walk(rows, SCANNED_DIMENSION, WIDE, WIDE);
        return Math.max(0, (wide.nanosPerVisit - nanosPerVisit) * wide.visits / WIDE);
    }

    /** Searches: what each visit takes with all that belongs to it, and how many visits there are. */
    private record Walk(double nanosPerVisit, double visits) {}

    private static Walk walk(int rows, int dimension, int k, int ef) throws Exception {
        // Many centres: each search goes somewhere else.
        Workload workload = Workload.mixture(rows, 2_000, dimension, 1 + rows / 100, 7);
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                HnswTable table = HnswTable.builder().efConstruction(EF).build(orchestrator, workload.rows())) {
            SearchFunction<float[], Neighbors> search = table.searchFunction(k, ef);
            // On a worker: it stays on its core, and so with its cache.
            SearchFunction<float[][], Walk> rounds = (queries, context) -> {
                double least = Double.MAX_VALUE;
                double visited = 0;
                for (int round = 0; round < ROUNDS; round++) {
                    LongAdder nodes = new LongAdder();
                    SearchContext counting = SearchContext.outside((touched, bytes) -> nodes.add(touched));
                    long began = System.nanoTime();
                    for (float[] query : queries) {
                        search.search(query, counting);
                    }
                    least = Math.min(least, (double) (System.nanoTime() - began) / nodes.sum());
                    visited = (double) nodes.sum() / queries.length;
                }
                return new Walk(least, visited);
            };
            return orchestrator
                    .submit(rounds, workload.queries(), table.mappingId())
                    .join();
        }
    }

    private static Parameters.Kind ivf(double dramNanos) throws Exception {
        double near = nearLineNanos(1);
        double far = scanNanos(300_000, 1, 10) / scanLines(300_000);
        int rows = 16_000;
        double result = (scanNanos(rows, 1, WIDE) - scanNanos(rows, 1, 10)) / (WIDE - 10);
        return new Parameters.Kind(0, near, dramNanos / Math.max(.01, far - near), Math.max(0, result));
    }

    /** What a search of many lists takes of all workers together, while they have much to do. */
    private static double probeNanos(int k) throws Exception {
        Workload workload = Workload.mixture(16_000, 400, SCANNED_DIMENSION, 32, 7);
        try (Orchestrator orchestrator = Orchestrator.builder()
                        .topology(TopologyReader.live().level(DomainLevel.L2).read())
                        .ringCapacity(1 << 16)
                        .build();
                IvfTable table = IvfTable.builder().nlist(32).build(orchestrator, workload.rows())) {
            List<float[]> queries = Arrays.asList(workload.queries());
            int workers = orchestrator.stats(0).workers().size();
            double least = Double.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                ClosedLoop.Run run = new ClosedLoop(GROUP)
                        .run(
                                4L * queries.size(),
                                Duration.ofSeconds(5),
                                number -> table.search(queries.get((int) (number % queries.size())), k, 32),
                                (number, found) -> {});
                least = Math.min(least, 1e9 * workers / run.perSecond());
            }
            return least;
        }
    }

    /** What a line costs each query of a group but the first, as part of what it costs the first. */
    private static double groupedLine(double lineNanos) throws Exception {
        return Math.max(0, (nearLineNanos(GROUP) * GROUP / lineNanos - 1) / (GROUP - 1));
    }

    private static long scanLines(int rows) {
        return (long) rows * SCANNED_DIMENSION * Float.BYTES / LINE;
    }

    /** What a line in the private cache costs each query of a group: from two lists, so that what a search costs besides drops out. */
    private static double nearLineNanos(int group) throws Exception {
        double nanos = scanNanos(1_400, group, 10) - scanNanos(350, group, 10);
        return Math.max(0, nanos / (scanLines(1_400) - scanLines(350)) / group);
    }

    /** How long a worker takes to scan one list for a group of queries. */
    private static double scanNanos(int rows, int group, int k) throws Exception {
        Workload workload = Workload.mixture(rows, 64, SCANNED_DIMENSION, 1, 7);
        Topology pinned = TopologyReader.live().level(DomainLevel.L2).read();
        try (Orchestrator orchestrator = Orchestrator.builder()
                        .topology(pinned)
                        .crossDomainGate(SHUT)
                        .build();
                IvfTable table = IvfTable.builder().nlist(1).build(orchestrator, workload.rows())) {
            int repeats = Math.toIntExact(Math.max(1, 10_000_000 / (scanLines(rows) * group)));
            // On the worker of the list: its searches wait in the mailbox until it waits for them.
            SearchFunction<float[][], Double> rounds = (queries, context) -> {
                double least = Double.MAX_VALUE;
                for (int round = 0; round < ROUNDS; round++) {
                    long began = System.nanoTime();
                    for (int repeat = 0; repeat < repeats; repeat++) {
                        List<CompletableFuture<Neighbors>> answers = new ArrayList<>();
                        for (int i = 0; i < group; i++) {
                            answers.add(table.search(queries[i], k, 1));
                        }
                        answers.forEach(CompletableFuture::join);
                    }
                    least = Math.min(least, (double) (System.nanoTime() - began) / repeats);
                }
                return least;
            };
            return orchestrator
                    .submit(rounds, workload.queries(), table.registration().id(0))
                    .join();
        }
    }

    /** From task to task where each submits the next, as searches of a closed loop do. */
    private static double taskNanos() {
        Topology pinned = TopologyReader.live().level(DomainLevel.L2).read();
        try (Orchestrator orchestrator =
                Orchestrator.builder().topology(pinned).crossDomainGate(SHUT).build()) {
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
        var unused = orchestrator.submit(next, 0, id);
    }
}
