package io.github.roost.cli;

import io.github.roost.bench.disk.DiskBench;
import io.github.roost.bench.rivals.Curves;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.PeerPython;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench disk}: tables on disk, compared with jvector and diskannpy. */
@Command(
        name = "disk",
        description = "Recall and searches per second on disk, compared with jvector's OnDiskGraphIndex and diskannpy.")
final class DiskBenchCommand implements Callable<Integer> {
    private static final double[] RECALLS = {.95, .99};
    private static final int QUERIES = 1_000;

    private final Streams streams;

    /** Compared libraries, in addition to jvector. */
    enum Peer {
        diskann,
        none
    }

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--folder",
            paramLabel = "DIR",
            description = "Folder for the tables; default the temporary folder.")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"));

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the mixture; default 100,000.")
    private int rows = 100_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Dimension of the mixture; default 128.")
    private int dimension = 128;

    @Option(names = "--degree", paramLabel = "N", description = "Neighbours per node; default 32.")
    private int degree = 32;

    @Option(names = "--k", paramLabel = "N", description = "Neighbours per query; default 10.")
    private int k = 10;

    @Option(
            names = "--width",
            paramLabel = "N",
            split = ",",
            description = "Widths of the search, ascending; default 20 to 320.")
    private List<Integer> widths = List.of(20, 40, 80, 160, 320);

    @Option(names = "--in-flight", paramLabel = "N", description = "Searches in flight; default 16.")
    private int inFlight = 16;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all engines; default 5.")
    private int rounds = 5;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per point and round; default 500.")
    private int sliceMillis = 500;

    @Option(
            names = "--peer",
            paramLabel = "diskann|none",
            description = "none leaves out diskannpy, which needs Python.")
    private Peer peer = Peer.diskann;

    @Mixin
    private final JsonOption json;

    DiskBenchCommand(Streams streams) {
        this.streams = streams;
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--rows", rows, 300, 100_000_000);
        BenchCommand.require("--dimension", dimension, 4, 900);
        BenchCommand.require("--degree", degree, 4, 64);
        BenchCommand.require("--k", k, 1, 1_000);
        BenchCommand.require("--in-flight", inFlight, 1, 1_024);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        widths.forEach(width -> BenchCommand.require("--width", width, k, 10_000));
        Path home = Path.of(System.getProperty("roost.home", "."));
        Path python = peer == Peer.none
                ? null
                : PeerPython.prepare(home.resolve("bench/target/peers/diskannpy"), PeerPython.DISKANN);
        Workload workload = Workload.mixture(rows, QUERIES, dimension, 1 + rows / 500, 42);
        try (DiskBench bench = new DiskBench(
                workload,
                folder,
                new DiskBench.Plan(degree, 2 * degree + 36, inFlight, k),
                python,
                what -> streams.err().println("... " + what))) {
            Curves curves = bench.curves(
                    widths.stream().mapToInt(Integer::intValue).toArray(), rounds, Duration.ofMillis(sliceMillis));
            print(bench.memory(), curves);
            List<Map<String, Object>> figures = curves.curves().stream()
                    .map(curve -> Map.<String, Object>of(
                            "engine",
                            curve.engine(),
                            "buildSeconds",
                            curve.build().toMillis() / 1e3,
                            "points",
                            curve.points()))
                    .toList();
            json.print(Map.of("memory", bench.memory(), "curves", figures));
        }
        return 0;
    }

    private void print(List<DiskBench.Memory> memory, Curves curves) {
        json.line(curves.workload() + ", k=" + k + ", degree " + degree + ", " + inFlight
                + " searches in flight, reads bypass the page cache");
        memory.forEach(one -> json.line(String.format(
                Locale.ROOT,
                "%s: %,d bytes in memory, %.3f of vectors and neighbours",
                one.engine(),
                one.bytes(),
                one.share())));
        for (Curves.Curve curve : curves.curves()) {
            json.line(String.format(
                    Locale.ROOT,
                    "%s, built in %.1f s",
                    curve.engine(),
                    curve.build().toMillis() / 1e3));
            json.line("width  recall   searches/s (median, min, max)");
            for (Curves.Point point : curve.points()) {
                Samples rates = Samples.of(point.rates());
                json.line(String.format(
                        Locale.ROOT,
                        "%5d   %.4f   %8.0f %8.0f %8.0f",
                        point.ef(),
                        point.recall(),
                        rates.median(),
                        rates.least(),
                        rates.most()));
            }
        }
        for (double recall : RECALLS) {
            for (Curves.Comparison comparison : curves.comparisons(recall)) {
                Samples ratios = Samples.of(comparison.ratios());
                json.line(
                        Double.isNaN(ratios.median())
                                ? String.format(
                                        Locale.ROOT,
                                        "at recall %.2f: %s or roost has no points on both sides of it",
                                        recall,
                                        comparison.other().engine())
                                : String.format(
                                        Locale.ROOT,
                                        "at recall %.2f: roost is %.2f times %s (%.2f to %.2f)",
                                        recall,
                                        ratios.median(),
                                        comparison.other().engine(),
                                        ratios.least(),
                                        ratios.most()));
            }
        }
    }
}
