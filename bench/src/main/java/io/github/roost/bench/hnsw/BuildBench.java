package io.github.roost.bench.hnsw;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.CoreStalls;
import io.github.roost.bench.rivals.Engine;
import io.github.roost.bench.rivals.EngineSettings;
import io.github.roost.bench.rivals.JvectorEngine;
import io.github.roost.bench.rivals.RivalEngine;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.SearchFailedException;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.Mixture;
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
 * Question: how much does the latency of searches grow while another table is built, and is that build as fast as jvector's and hnswlib's, with the
 * same number of threads, M and efConstruction? Searches of some tables arrive at a steady rate, alternately without and with a concurrent build;
 * the order is reversed from round to round. Builds without concurrent searches alternate with the builds of the other libraries.
 */
public final class BuildBench implements AutoCloseable {
    private static final int K = 10;
    private static final int EF = 64;
    private static final int M = 16;
    private static final int EF_CONSTRUCTION = 200;
    private static final int CENTRES = 100;
    private static final int QUERIES = 1_000;
    private static final int SIGNIFICANT_DIGITS = 3;
    private static final long DELAY_MICROS = 100;
    private static final long AFTER_DELAY_MICROS = 1_000;
    private static final Duration CALIBRATION = Duration.ofSeconds(2);
    /** How long a round measures {@link CoreStalls}, once with one thread and once with all. */
    private static final Duration STALL_TIME = Duration.ofMillis(500);
    /** Searches in flight while the workers' capacity is measured: enough to keep them busy. */
    private static final int CALIBRATION_IN_FLIGHT = 32;

    private final Orchestrator orchestrator;
    private final List<HnswTable> served = new ArrayList<>();
    private final Workload built;
    private final @Nullable Path python;
    private final float[][] queries;
    private final double perSecond;

    /**
     * The settings.
     *
     * @param tables number of tables that are searched
     * @param rows per searched table
     * @param builtRows rows of the table that is built
     * @param dimension of all rows, a {@link Mixture}
     * @param load share of the workers' max throughput, over 0 and under 1
     * @param seed of rows and queries
     */
    public record Settings(int tables, int rows, int builtRows, int dimension, double load, long seed) {}

    /**
     * One round.
     *
     * @param alone latencies without a build
     * @param beside latencies while a table is built repeatedly
     * @param aloneOnTime latencies without a build, of searches submitted on time: not within {@value #AFTER_DELAY_MICROS} us after a search
     *     that was submitted {@value #DELAY_MICROS} us late or more, for whatever reason; the missed searches are then submitted at once
     * @param besideOnTime the same while a table is built repeatedly
     * @param builds builds finished while latencies were measured
     * @param collecting time of that in garbage collection pauses, which stop searches and the build
     * @param compiling time of that in JIT compilation, which takes a core from searches and the build
     * @param roost time of a build without concurrent searches
     * @param jvector time of jvector's build
     * @param hnswlib time in which hnswlib adds the rows, null if it is left out
     * @param oneComputes stalls of one computing thread, the usual state without a build
     * @param allCompute stalls while all cores compute, as during a build
     */
    public record Round(
            Latencies alone,
            Latencies beside,
            Latencies aloneOnTime,
            Latencies besideOnTime,
            long builds,
            Duration collecting,
            Duration compiling,
            Duration roost,
            Duration jvector,
            @Nullable Duration hnswlib,
            CoreStalls oneComputes,
            CoreStalls allCompute) {
        /** P99 latency during a build over P99 without one. */
        public double p99Ratio() {
            return beside.p99us() / alone.p99us();
        }

        /** As {@link #p99Ratio}, of searches submitted on time. */
        public double onTimeRatio() {
            return besideOnTime.p99us() / aloneOnTime.p99us();
        }

        /** Roost's build time over jvector's. */
        public double buildRatio() {
            return (double) roost.toNanos() / jvector.toNanos();
        }

        /** Roost's build time over hnswlib's; NaN if hnswlib is left out. */
        public double hnswlibRatio() {
            return hnswlib == null ? Double.NaN : (double) roost.toNanos() / hnswlib.toNanos();
        }
    }

    /**
     * Builds the tables and measures the workers' capacity.
     *
     * @param python interpreter with hnswlib, null to leave hnswlib out
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

    /** Number of workers; jvector builds on {@value Engine#THREADS} threads. */
    public int workers() {
        return orchestrator.workers();
    }

    /** Arriving searches per second. */
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
     * @param number from 0; even rounds begin without a build, odd ones with a build
     * @param window how long latencies are measured in each of the two states
     */
    public Round round(int number, Duration window) throws Exception {
        Measured[] measured = new Measured[2];
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
                measured[0].all,
                measured[1].all,
                measured[0].onTime,
                measured[1].onTime,
                builds,
                collecting,
                compiling,
                took[0],
                took[1],
                took.length == 2 ? null : took[2],
                CoreStalls.of(1, STALL_TIME),
                CoreStalls.of(workers(), STALL_TIME));
    }

    /** Total time in garbage collection so far; with the default collector all threads stop during that time. */
    private static Duration collecting() {
        return Duration.ofMillis(ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum());
    }

    /** Total time of JIT compilation so far, on the compiler's own threads. */
    private static Duration compiling() {
        return Duration.ofMillis(ManagementFactory.getCompilationMXBean().getTotalCompilationTime());
    }

    /** Latencies of all searches, and of those submitted on time. */
    private record Measured(Latencies all, Latencies onTime) {}

    /** Latencies from submission to completion, of searches that arrive at equal intervals. */
    private Measured latencies(Duration window) throws InterruptedException {
        Histogram nanos = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
        Histogram onTime = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
        // There is no list of futures, because the garbage collector would copy it repeatedly while everything else is
        // stopped.
        Semaphore answered = new Semaphore(0);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        long began = System.nanoTime();
        long onTimeFrom = began;
        int searches = (int) (perSecond * window.toNanos() / 1e9);
        for (int number = 0; number < searches; number++) {
            long due = began + (long) (number * 1e9 / perSecond);
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            long submitted = System.nanoTime();
            if (submitted - due >= DELAY_MICROS * 1_000) {
                onTimeFrom = submitted + AFTER_DELAY_MICROS * 1_000;
            }
            boolean isOnTime = submitted - onTimeFrom >= 0;
            var _ = search(number).whenComplete((found, thrown) -> {
                long latency = System.nanoTime() - submitted;
                nanos.recordValue(latency);
                if (isOnTime) {
                    onTime.recordValue(latency);
                }
                failure.compareAndSet(null, thrown);
                answered.release();
            });
        }
        answered.acquire(searches);
        Throwable first = failure.get();
        if (first != null) {
            throw new SearchFailedException(first);
        }
        return new Measured(Latencies.ofNanos(nanos), Latencies.ofNanos(onTime));
    }

    private Duration roostBuild() {
        long began = System.nanoTime();
        build("built", built.rows()).close();
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private Duration jvectorBuild() throws Exception {
        try (JvectorEngine jvector = new JvectorEngine(built, EngineSettings.graph(M, EF_CONSTRUCTION))) {
            return jvector.buildTime();
        }
    }

    private Duration hnswlibBuild() throws IOException {
        Path interpreter = Objects.requireNonNull(python);
        try (RivalEngine hnswlib =
                new RivalEngine("hnswlib", built, interpreter, EngineSettings.graph(M, EF_CONSTRUCTION))) {
            return hnswlib.buildTime();
        }
    }

    /** Builds the table repeatedly, until closed. */
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
