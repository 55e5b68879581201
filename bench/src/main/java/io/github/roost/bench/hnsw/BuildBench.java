package io.github.roost.bench.hnsw;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.Latencies;
import io.github.roost.bench.Mixture;
import io.github.roost.bench.SearchFailedException;
import io.github.roost.bench.Standstills;
import io.github.roost.bench.peer.Workload;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Question: how much later are searches answered while another table is built, and is that build as fast as jvector's own
 * and hnswlib's, on the same number of threads, of the same M and efConstruction? Searches of some tables arrive at a steady rate, in turns without and beside a build, in
 * an order that is reversed from round to round; builds with nothing beside them take turns with the others'.
 */
public final class BuildBench implements AutoCloseable {
    private static final int K = 10;
    private static final int EF = 64;
    private static final int M = 16;
    private static final int EF_CONSTRUCTION = 200;
    private static final int CENTRES = 100;
    private static final int QUERIES = 1_000;
    private static final int SIGNIFICANT_DIGITS = 3;
    private static final Duration CALIBRATION = Duration.ofSeconds(2);
    /** How long a round looks whether the machine stands still; once with one thread, once with all. */
    private static final Duration STANDSTILL_TIME = Duration.ofMillis(500);
    /** Searches under way at a time while the workers' capacity is measured: enough to keep them busy. */
    private static final int CALIBRATION_IN_FLIGHT = 32;

    private final Orchestrator orchestrator;
    private final List<HnswTable> served = new ArrayList<>();
    private final Workload built;
    private final @Nullable Path python;
    private final float[][] queries;
    private final double perSecond;

    /**
     * What is measured.
     *
     * @param tables searched
     * @param rows of each of them
     * @param builtRows of the table that is built
     * @param dimension of all rows, a {@link Mixture}
     * @param load share of what the workers can answer at most, over 0 and under 1
     * @param seed of rows and queries
     */
    public record Settings(int tables, int rows, int builtRows, int dimension, double load, long seed) {}

    /**
     * One round.
     *
     * @param alone latencies while nothing is built
     * @param beside latencies while a table is built, again and again
     * @param builds how many builds were finished beside the searches
     * @param collecting for how long of that time garbage collection stopped searches and build alike
     * @param compiling for how long of that time the JVM compiled, which takes a core from searches and build alike
     * @param roost how long a build takes with nothing beside it
     * @param jvector how long jvector's own takes
     * @param hnswlib how long hnswlib takes to add the rows, null where it is left out
     * @param oneComputes how long a core stands still while nothing else computes, as it does for most of the time without a
     *     build
     * @param allCompute how long cores stand still while all of them compute, as they do beside a build
     */
    public record Round(
            Latencies alone,
            Latencies beside,
            long builds,
            Duration collecting,
            Duration compiling,
            Duration roost,
            Duration jvector,
            @Nullable Duration hnswlib,
            Standstills oneComputes,
            Standstills allCompute) {
        /** How many times as late the hundredth search is beside a build. */
        public double p99Ratio() {
            return beside.p99us() / alone.p99us();
        }

        /** How many times as long as jvector's the build takes. */
        public double buildRatio() {
            return (double) roost.toNanos() / jvector.toNanos();
        }

        /** How many times as long as hnswlib's the build takes; not a number where that is left out. */
        public double hnswlibRatio() {
            return hnswlib == null ? Double.NaN : (double) roost.toNanos() / hnswlib.toNanos();
        }
    }

    /**
     * Builds the tables and measures what the workers can answer.
     *
     * @param python interpreter that has hnswlib, null to leave hnswlib out
     */
    public BuildBench(Topology topology, Settings settings, @Nullable Path python) throws InterruptedException {
        this.python = python;
        this.orchestrator = Orchestrator.builder().topology(topology).build();
        SplittableRandom random = new SplittableRandom(settings.seed());
        Mixture mixture = Mixture.of(CENTRES, settings.dimension(), random);
        for (int table = 0; table < settings.tables(); table++) {
            served.add(build("served " + table, mixture.draw(settings.rows(), random)));
        }
        this.queries = mixture.draw(QUERIES, random);
        this.built = new Workload("built", mixture.draw(settings.builtRows(), random), queries);
        capacity();
        this.perSecond = settings.load() * capacity();
    }

    private HnswTable build(String name, float[][] rows) {
        return HnswTable.builder()
                .name(name)
                .m(M)
                .efConstruction(EF_CONSTRUCTION)
                .build(orchestrator, rows);
    }

    /** Workers there are; jvector builds on {@value HnswEngine#THREADS} threads. */
    public int workers() {
        return orchestrator.workers();
    }

    /** Searches that arrive in a second. */
    public double perSecond() {
        return perSecond;
    }

    private CompletableFuture<?> search(long number) {
        HnswTable table = served.get((int) (number % served.size()));
        return table.search(queries[(int) (number % queries.length)], K, EF);
    }

    private double capacity() throws InterruptedException {
        return new ClosedLoop(CALIBRATION_IN_FLIGHT)
                .run(Long.MAX_VALUE, CALIBRATION, this::search, (number, found) -> {})
                .perSecond();
    }

    /**
     * Measures one round.
     *
     * @param number from 0; even ones begin without a build, odd ones beside one
     * @param window how long latencies are measured in each of the two
     */
    public Round round(int number, Duration window) throws Exception {
        Latencies[] measured = new Latencies[2];
        long builds = 0;
        Duration collecting = Duration.ZERO;
        Duration compiling = Duration.ZERO;
        for (int turn = 0; turn < 2; turn++) {
            boolean beside = (turn + number) % 2 == 1;
            if (beside) {
                Duration collected = collecting();
                Duration compiled = compiling();
                try (Builds running = new Builds()) {
                    measured[1] = latencies(window);
                    builds = running.done();
                }
                collecting = collecting().minus(collected);
                compiling = compiling().minus(compiled);
            } else {
                measured[0] = latencies(window);
            }
        }
        Duration[] took = new Duration[python == null ? 2 : 3];
        for (int turn = 0; turn < took.length; turn++) {
            int engine = number % 2 == 0 ? turn : took.length - 1 - turn;
            took[engine] = switch (engine) {
                case 0 -> roostBuild();
                case 1 -> jvectorBuild();
                default -> hnswlibBuild();
            };
        }
        return new Round(
                measured[0],
                measured[1],
                builds,
                collecting,
                compiling,
                took[0],
                took[1],
                took.length == 2 ? null : took[2],
                Standstills.of(1, STANDSTILL_TIME),
                Standstills.of(workers(), STANDSTILL_TIME));
    }

    /** How long the JVM has collected garbage so far; with the default collector everything stands still meanwhile. */
    private static Duration collecting() {
        return Duration.ofMillis(ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum());
    }

    /** How long the JVM has compiled so far, in threads of its own. */
    private static Duration compiling() {
        return Duration.ofMillis(ManagementFactory.getCompilationMXBean().getTotalCompilationTime());
    }

    /** Of searches that arrive at equal distances, from submission to completion. */
    private Latencies latencies(Duration window) throws InterruptedException {
        Histogram nanos = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
        // No list of futures: the garbage collector would copy it again and again while all else stands still.
        Semaphore answered = new Semaphore(0);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        long began = System.nanoTime();
        int searches = (int) (perSecond * window.toNanos() / 1e9);
        for (int number = 0; number < searches; number++) {
            long due = began + (long) (number * 1e9 / perSecond);
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            long submitted = System.nanoTime();
            var _ = search(number).whenComplete((found, thrown) -> {
                nanos.recordValue(System.nanoTime() - submitted);
                failure.compareAndSet(null, thrown);
                answered.release();
            });
        }
        answered.acquire(searches);
        Throwable first = failure.get();
        if (first != null) {
            throw new SearchFailedException(first);
        }
        return Latencies.ofNanos(nanos);
    }

    private Duration roostBuild() {
        long began = System.nanoTime();
        build("built", built.rows()).close();
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private Duration jvectorBuild() throws Exception {
        try (JvectorEngine jvector = new JvectorEngine(built, M, EF_CONSTRUCTION, HnswEngine.THREADS)) {
            return jvector.buildTime();
        }
    }

    private Duration hnswlibBuild() throws IOException {
        Path interpreter = Objects.requireNonNull(python);
        try (RivalEngine hnswlib =
                new RivalEngine("hnswlib", built, interpreter, M, EF_CONSTRUCTION, HnswEngine.THREADS)) {
            return hnswlib.buildTime();
        }
    }

    /** Builds the table again and again, until closed. */
    private final class Builds implements AutoCloseable {
        private final AtomicBoolean stopped = new AtomicBoolean();
        private final AtomicLong done = new AtomicLong();
        private final CompletableFuture<Void> running = CompletableFuture.runAsync(() -> {
            while (!stopped.get()) {
                roostBuild();
                done.incrementAndGet();
            }
        });

        long done() {
            return done.get();
        }

        @Override
        public void close() {
            stopped.set(true);
            running.join();
        }
    }

    @Override
    public void close() {
        orchestrator.close();
    }
}
