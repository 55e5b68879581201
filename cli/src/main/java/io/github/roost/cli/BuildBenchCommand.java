package io.github.roost.cli;

import io.github.roost.bench.CoreStalls;
import io.github.roost.bench.FirstCores;
import io.github.roost.bench.hnsw.BuildBench;
import io.github.roost.bench.hnsw.BuildBench.Round;
import io.github.roost.bench.hnsw.BuildBench.Settings;
import io.github.roost.bench.rivals.Engine;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.testkit.PeerPython;
import io.github.roost.topology.TopologyReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench build}: HNSW builds concurrent with searches, and compared with builds by jvector and hnswlib. */
@Command(
        name = "build",
        description = {
            "Search latencies of HNSW tables with and without a concurrent build of another table, and the time of a build.",
            "The build is compared with jvector's parallel build and hnswlib's, each on two threads. gc: time in which"
                    + " garbage collection stopped all threads during the build; jit: time in which the JVM compiled."
                    + " Measured rounds begin with the first round in which compilation took less than a twentieth of"
                    + " the time, at the latest with the sixth. on time: the ratio without the searches of 1 ms after one"
                    + " was submitted 100 us late or more, for whatever reason, the build included; the missed ones are then"
                    + " submitted at once. The last line is the delay that the machine imposes on threads that only read the clock: a"
                    + " lower bound of the P99 of searches."
        })
final class BuildBenchCommand implements Callable<Integer> {
    private static final int MAX_SETTLING_ROUNDS = 5;
    /** The JVM has settled once compilation takes at most this fraction of the time. */
    private static final int SETTLED = 20;

    private final Streams streams;

    /** Compared libraries, in addition to jvector. */
    enum Peer {
        hnswlib,
        none
    }

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--tables", paramLabel = "N", description = "Tables searched; default 4.")
    private int tables = 4;

    @Option(names = "--rows", paramLabel = "N", description = "Rows per table; default 20000.")
    private int rows = 20_000;

    @Option(names = "--built-rows", paramLabel = "N", description = "Rows of the table that is built; default 20000.")
    private int builtRows = 20_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Dimension of all rows; default 128.")
    private int dimension = 128;

    @Option(
            names = "--load",
            paramLabel = "PERCENT",
            description = "Load in percent of the workers' capacity; default 30.")
    private int load = 30;

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default 7.")
    private int rounds = 7;

    @Option(names = "--window-millis", paramLabel = "N", description = "Time per half of a round; default 3000.")
    private int windowMillis = 3_000;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of rows and queries; default 42.")
    private long seed = 42;

    @Option(names = "--peer", paramLabel = "hnswlib|none", description = "none leaves out hnswlib, which needs Python.")
    private Peer peer = Peer.hnswlib;

    BuildBenchCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--tables", tables, 1, 10_000);
        BenchCommand.require("--rows", rows, 1, 10_000_000);
        BenchCommand.require("--built-rows", builtRows, 1, 10_000_000);
        BenchCommand.require("--dimension", dimension, 1, 4_096);
        BenchCommand.require("--load", load, 1, 99);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--window-millis", windowMillis, 1, 600_000);
        Settings settings = new Settings(tables, rows, builtRows, dimension, load / 100.0, seed);
        List<Round> results = new ArrayList<>();
        Path python = peer == Peer.none
                ? null
                : PeerPython.prepare(
                        Path.of(System.getProperty("roost.home", ".")).resolve("bench/target/peers/hnswlib"),
                        PeerPython.HNSWLIB);
        try (BuildBench bench =
                new BuildBench(FirstCores.of(TopologyReader.live().read(), Engine.THREADS), settings, python)) {
            streams.out()
                    .printf(
                            Locale.ROOT,
                            "%d tables of %,d x %d on %d workers, %.0f searches/s; built: %,d rows%n",
                            tables,
                            rows,
                            dimension,
                            bench.workers(),
                            bench.perSecond(),
                            builtRows);
            settle(bench);
            streams.out()
                    .println(
                            "          alone, us                    during a build, us                                build alone, s");
            streams.out()
                    .println(
                            "      p50      p99      p50      p99   p99 ratio  on time  builds   gc, ms  jit, ms    roost  jvector  hnswlib");
            for (int round = 0; round < rounds; round++) {
                results.add(bench.round(round, Duration.ofMillis(windowMillis)));
                print(results.getLast());
            }
        }
        streams.out().println("p99 during a build over p99 alone: " + spread(results, Round::p99Ratio));
        streams.out()
                .println("the same for searches that were submitted on time: " + spread(results, Round::onTimeRatio)
                        + ", of alone " + share(results, Round::aloneOnTime, Round::alone) + ", during a build "
                        + share(results, Round::besideOnTime, Round::beside));
        streams.out().println("build time over jvector's: " + spread(results, Round::buildRatio));
        if (peer == Peer.hnswlib) {
            streams.out().println("build time over hnswlib's: " + spread(results, Round::hnswlibRatio));
        }
        streams.out()
                .printf(
                        Locale.ROOT,
                        "stalls of a core of %,d us or more: with one computing core %s, with all cores computing %s%n",
                        CoreStalls.MIN_MICROS,
                        stalls(results, Round::oneComputes),
                        stalls(results, Round::allCompute));
        return 0;
    }

    /** Runs rounds until the JVM hardly compiles any more: compilation takes CPU time from searches and builds alike. */
    private void settle(BuildBench bench) throws Exception {
        Duration window = Duration.ofMillis(windowMillis);
        boolean settled = false;
        for (int round = 0; round < MAX_SETTLING_ROUNDS && !settled; round++) {
            Duration compiling = bench.round(round, window).compiling();
            settled = compiling.compareTo(window.dividedBy(SETTLED)) < 0;
        }
    }

    private void print(Round round) {
        streams.out()
                .printf(
                        Locale.ROOT,
                        "%9.0f %8.0f %8.0f %8.0f %11.2f %8.2f %7d %8d %8d %8.2f %8.2f %8s%n",
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
        Samples samples = Samples.of(rounds.stream().map(figure::applyAsDouble).toList());
        return String.format(
                Locale.ROOT, "median %.2f (%.2f to %.2f)", samples.median(), samples.least(), samples.most());
    }
}
