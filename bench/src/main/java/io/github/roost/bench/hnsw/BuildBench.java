package io.github.roost.bench.hnsw;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.CoreStalls;
import io.github.roost.bench.FirstCores;
import io.github.roost.bench.rivals.Engine;
import io.github.roost.bench.rivals.EngineSettings;
import io.github.roost.bench.rivals.HnswlibOption;
import io.github.roost.bench.rivals.JvectorEngine;
import io.github.roost.bench.rivals.RivalEngine;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.SearchFailedException;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.Output;
import io.github.roost.simulator.options.SeedOption;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: how much does the latency of searches grow while another table is built, and is that build as fast as jvector's and hnswlib's, with the
 * same number of threads, M and efConstruction? Searches of some tables arrive at a steady rate, alternately without and with a concurrent build;
 * the order is reversed from round to round. Builds without concurrent searches alternate with the builds of the other libraries.
 */
@Command(
        name = "build",
        description = {
            "Search latencies of HNSW tables with and without a concurrent build of another table, and the time of a"
                    + " build.",
            "The build is compared with jvector's parallel build and hnswlib's, each on two threads. gc: time in which"
                    + " garbage collection stopped all threads during the build; jit: time in which the JVM compiled."
                    + " Measured rounds begin with the first round in which compilation took less than a twentieth of the"
                    + " time, at the latest with the sixth. on time: the ratio without the searches of 1 ms after one was"
                    + " submitted 100 us late or more, for whatever reason, the build included; the missed ones are then"
                    + " submitted at once. The last line is the delay that the machine imposes on threads that only read"
                    + " the clock: a lower bound of the P99 of searches."
        })
@SuppressWarnings("NullAway.Init")
public final class BuildBench implements Callable<Integer> {
    private static final int K = 10;
    private static final int EF = 64;
    private static final int M = 16;
    private static final int EF_CONSTRUCTION = 200;
    private static final int CENTERS = 100;
    private static final int QUERIES = 1_000;
    private static final int SIGNIFICANT_DIGITS = 3;
    private static final long DELAY_MICROS = 100;
    private static final long AFTER_DELAY_MICROS = 1_000;
    private static final Duration CALIBRATION = Duration.ofSeconds(2);
    /** How long a round measures {@link CoreStalls}, once with one thread and once with all. */
    private static final Duration STALL_TIME = Duration.ofMillis(500);
    /** Searches in flight while the workers' capacity is measured: enough to keep them busy. */
    private static final int CALIBRATION_IN_FLIGHT = 32;

    private static final int MAX_SETTLING_ROUNDS = 5;
    /** The JVM has settled once compilation takes at most this fraction of the time. */
    private static final int SETTLED = 20;

    private final @Mixin NumberOption tables = NumberOption.tables(4);
    private final @Mixin NumberOption rows = NumberOption.rows(20_000, 1, 10_000_000);

    @Option(names = "--built-rows", paramLabel = "N", description = "Rows of the table that is built; default 20000.")
    private int builtRows = 20_000;

    private final @Mixin NumberOption dimension = NumberOption.dimension(128, 1, 4_096);

    @Option(
            names = "--load",
            paramLabel = "PERCENT",
            description = "Load in percent of the workers' capacity; default 30.")
    private int load = 30;

    private final @Mixin NumberOption rounds = NumberOption.rounds(7, 10_000);
    private final @Mixin NumberOption windowMillis = NumberOption.windowMillis(3_000, 600_000);
    private final @Mixin SeedOption seed = new SeedOption(42);
    private final @Mixin HnswlibOption hnswlib = new HnswlibOption();
    private final @Mixin Output output = new Output();

    private final List<HnswTable> served = new ArrayList<>();
    private Orchestrator orchestrator;
    private Workload built;
    private @Nullable Path python;
    private float[][] queries;
    private double perSecond;

    @Override
    public Integer call() throws Exception {
        NumberOption.check(tables, rows, dimension, rounds, windowMillis);
        Options.require("--built-rows", builtRows, 1, 10_000_000);
        Options.require("--load", load, 1, 99);
        List<Round> results = new ArrayList<>();
        python = hnswlib.python();
        try (Orchestrator running = Orchestrator.builder()
                .recallShare(0)
                .topology(FirstCores.of(TopologyReader.live().read(), Engine.THREADS))
                .build()) {
            start(running);
            output.format(
                    "%d tables of %,d x %d on %d workers, %.0f searches/s; built: %,d rows",
                    tables.value(), rows.value(), dimension.value(), orchestrator.workers(), perSecond, builtRows);
            settle();
            output.line("          alone, us                    during a build, us                                build"
                    + " alone, s");
            output.line("      p50      p99      p50      p99   p99 ratio  on time  builds   gc, ms  jit, ms    roost "
                    + " jvector  hnswlib");
            for (int round = 0; round < rounds.value(); round++) {
                results.add(round(round));
                print(results.getLast());
            }
        }
        output.line("p99 during a build over p99 alone: " + spread(results, Round::p99Ratio));
        output.line("the same for searches that were submitted on time: " + spread(results, Round::onTimeRatio)
                + ", of alone " + share(results, Round::aloneOnTime, Round::alone) + ", during a build "
                + share(results, Round::besideOnTime, Round::beside));
        output.line("build time over jvector's: " + spread(results, Round::buildRatio));
        if (python != null) {
            output.line("build time over hnswlib's: " + spread(results, Round::hnswlibRatio));
        }
        output.format(
                "stalls of a core of %,d us or more: with one computing core %s, with all cores computing %s",
                CoreStalls.MIN_MICROS, stalls(results, Round::oneComputes), stalls(results, Round::allCompute));
        return 0;
    }

    /** Runs rounds until the JVM hardly compiles any more: compilation takes CPU time from searches and builds alike. */
    private void settle() throws Exception {
        Duration window = Duration.ofMillis(windowMillis.value());
        boolean settled = false;
        for (int round = 0; round < MAX_SETTLING_ROUNDS && !settled; round++) {
            Duration compiling = round(round).compiling();
            settled = compiling.compareTo(window.dividedBy(SETTLED)) < 0;
        }
    }

    private void print(Round round) {
        output.format(
                "%9.0f %8.0f %8.0f %8.0f %11.2f %8.2f %7d %8d %8d %8.2f %8.2f %8s",
                round.alone().p50us(),
                round.alone().p99us(),
                round.beside().p50us(),
                round.beside().p99us(),
                round.p99Ratio(),
                round.onTimeRatio(),
                round.builds(),
                round.collecting().toMillis(),
                round.compiling().toMillis(),
                round.roost().toMillis() / 1e3,
                round.jvector().toMillis() / 1e3,
                seconds(round.hnswlib()));
    }

    private static String seconds(@Nullable Duration time) {
        return time == null ? "-" : String.format(Locale.ROOT, "%.2f", time.toMillis() / 1e3);
    }

    private static String share(List<Round> rounds, Function<Round, Latencies> part, Function<Round, Latencies> whole) {
        long of = rounds.stream().mapToLong(round -> part.apply(round).count()).sum();
        long all =
                rounds.stream().mapToLong(round -> whole.apply(round).count()).sum();
        return String.format(Locale.ROOT, "%.1f %%", 100.0 * of / all);
    }

    private static String stalls(List<Round> rounds, Function<Round, CoreStalls> figure) {
        CoreStalls all = rounds.stream().map(figure).reduce(CoreStalls::plus).orElseThrow();
        return String.format(Locale.ROOT, "%.1f times per second, %.2f %%", all.perSecond(), 100 * all.share());
    }

    private static String spread(List<Round> rounds, ToDoubleFunction<Round> figure) {
        return "median "
                + Samples.of(rounds.stream().map(figure::applyAsDouble).toList())
                        .spread("%.2f");
    }

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

    /** Builds the tables and measures the workers' capacity. */
    void start(Orchestrator running) throws InterruptedException {
        orchestrator = running;
        SplittableRandom random = new SplittableRandom(seed.value());
        Mixture mixture = Mixture.of(CENTERS, dimension.value(), random);
        for (int table = 0; table < tables.value(); table++) {
            served.add(build("served " + table, mixture.draw(rows.value(), random)));
        }
        queries = mixture.draw(QUERIES, random);
        built = new Workload("built", mixture.draw(builtRows, random), queries);
        capacity();
        perSecond = load / 100.0 * capacity();
    }

    private HnswTable build(String name, float[][] rows) {
        return HnswTable.builder()
                .name(name)
                .m(M)
                .efConstruction(EF_CONSTRUCTION)
                .build(orchestrator, rows);
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
     */
    Round round(int number) throws Exception {
        Duration window = Duration.ofMillis(windowMillis.value());
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
                CoreStalls.of(orchestrator.workers(), STALL_TIME));
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
}
