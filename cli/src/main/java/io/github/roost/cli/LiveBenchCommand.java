package io.github.roost.cli;

import io.github.roost.bench.live.LiveLoad;
import io.github.roost.bench.live.LiveLoad.Report;
import io.github.roost.bench.live.LiveLoad.Settings;
import io.github.roost.bench.live.LiveLoad.Stretch;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Vectors;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench live}: a live table under a mixed load. */
@Command(
        name = "live",
        description = {
            "A live table under nine searches per change: whether anything is lost, and recall compared with a fresh build.",
            "Exits with 1 if an acknowledged row is not found, a removed row is found, or recall is more than .01 lower.",
            "It is to a table what soak is to scheduling."
        })
final class LiveBenchCommand implements Callable<Integer> {
    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--seconds", paramLabel = "N", description = "Length of the load, without checks; default 600.")
    private int seconds = 600;

    @Option(names = "--stretches", paramLabel = "N", description = "Number of checks of all rows; default 5.")
    private int stretches = 5;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the table, a mixture; default 50000.")
    private int rows = 50_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Dimension of the rows; default 64.")
    private int dimension = 64;

    @Option(names = "--clients", paramLabel = "N", description = "Threads that search and change; default 4.")
    private int clients = 4;

    @Option(names = "--ef", paramLabel = "N", description = "ef of the searches, for 10 neighbours; default 20.")
    private int ef = 20;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of the random operations; default the time.")
    private long seed = System.nanoTime();

    LiveBenchCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--seconds", seconds, 1, 1_000_000);
        BenchCommand.require("--stretches", stretches, 1, 10_000);
        BenchCommand.require("--rows", rows, 1_000, 10_000_000);
        BenchCommand.require("--dimension", dimension, 1, 4_096);
        BenchCommand.require("--clients", clients, 1, 1_000);
        BenchCommand.require("--ef", ef, LiveLoad.K, Vectors.MAX_EF);
        streams.out().println("seed " + seed + ", " + clients + " clients, k=" + LiveLoad.K + ", ef=" + ef);
        streams.out()
                .println(" seconds  searches/s  changes/s     rows  parts   recall    fresh   missed by the graph");
        Report report = new LiveLoad(
                        TopologyReader.live().read(), new Settings(rows, dimension, clients, ef, 1_000, seed))
                .run(Duration.ofSeconds(seconds), stretches, this::print);
        boolean well = report.violations().isEmpty();
        report.violations().forEach(streams.out()::println);
        for (Stretch stretch : report.stretches()) {
            double lost = stretch.freshRecall() - stretch.recall();
            if (lost > LiveLoad.MAX_RECALL_LOST) {
                streams.out().printf(Locale.ROOT, "recall is %.4f below that of a fresh build%n", lost);
                well = false;
            }
        }
        if (well) {
            streams.out()
                    .printf(
                            Locale.ROOT,
                            "%d workers, %,d searches and %,d changes: nothing lost, recall kept%n",
                            report.workers(),
                            report.stretches().stream()
                                    .mapToLong(Stretch::searches)
                                    .sum(),
                            report.stretches().stream()
                                    .mapToLong(Stretch::changes)
                                    .sum());
        }
        return well ? 0 : 1;
    }

    private void print(Stretch stretch) {
        double length = stretch.length().toMillis() / 1e3;
        streams.out()
                .printf(
                        Locale.ROOT,
                        "%8.1f %11.0f %10.0f %8d %6d   %.4f   %.4f   %d of %d%n",
                        length,
                        stretch.searches() / length,
                        stretch.changes() / length,
                        stretch.rows(),
                        stretch.frozenParts(),
                        stretch.recall(),
                        stretch.freshRecall(),
                        stretch.missed(),
                        stretch.looks());
    }
}
