package io.github.roost.bench.disk;

import io.github.roost.bench.Recall;
import io.github.roost.bench.rivals.CurveMeasurement;
import io.github.roost.bench.rivals.Curves;
import io.github.roost.bench.rivals.Sweep;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.simulator.options.FolderOption;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.PeerPython;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: how many searches per second does a table on disk answer at a given recall, with a tenth of it in memory, compared with jvector's
 * {@code OnDiskGraphIndex} and diskannpy over the same rows, with the same degree and build width? Each has in memory codes of one byte per four
 * dimensions, jvector also cached blocks up to a tenth of its file; all use direct I/O and have the same number of searches in flight. In each round
 * every engine runs at every width, in an order that is reversed from round to round.
 */
@Command(
        name = "disk",
        description = "Recall and searches per second on disk, compared with jvector's OnDiskGraphIndex and diskannpy.")
@SuppressWarnings("NullAway.Init")
public final class DiskBench implements Callable<Integer> {
    private static final double[] RECALLS = {.95, .99};
    private static final int QUERIES = 1_000;

    /** Compared libraries, in addition to jvector. */
    enum Peer {
        diskann,
        none
    }

    private final @Mixin FolderOption folder = new FolderOption(FolderOption.TEMPORARY);
    private final @Mixin NumberOption rows = NumberOption.rows(100_000, 300, 100_000_000);
    private final @Mixin NumberOption dimension = NumberOption.dimension(128, 4, 900);

    @Option(names = "--degree", paramLabel = "N", description = "Neighbors per node; default 32.")
    private int degree = 32;

    private final @Mixin NumberOption k = NumberOption.k(1_000);

    @Option(
            names = "--width",
            paramLabel = "N",
            split = ",",
            description = "Widths of the search, ascending; default 20 to 320.")
    private List<Integer> widths = List.of(20, 40, 80, 160, 320);

    private final @Mixin NumberOption inFlight = NumberOption.inFlight(16, 1_024);
    private final @Mixin RoundOptions rounds = new RoundOptions(5, 500);

    @Option(
            names = "--peer",
            paramLabel = "diskann|none",
            description = "none leaves out diskannpy, which needs Python.")
    private Peer peer = Peer.diskann;

    private final @Mixin JsonOutput output = new JsonOutput();

    private final List<DiskEngine> engines = new ArrayList<>();
    private Workload workload;
    private int[][] truth;

    @Override
    public Integer call() throws Exception {
        NumberOption.check(rows, dimension, k, inFlight);
        Options.require("--degree", degree, 4, 64);
        rounds.check();
        widths.forEach(width -> Options.require("--width", width, k.value(), 10_000));
        Path python = peer == Peer.none ? null : PeerPython.prepare(RoostHome.peer("diskannpy"), PeerPython.DISKANN);
        workload = Workload.mixture(rows.value(), QUERIES, dimension.value(), 1 + rows.value() / 500, 42);
        try (TemporaryFolder files = new TemporaryFolder(folder.path(), "roost-disk-")) {
            build(files.path(), python);
            Sweep sweep = new Sweep(k.value(), widths, Sweep.ALL, rounds.count(), rounds.slice(), Duration.ZERO);
            Curves curves = CurveMeasurement.curves(workload.name(), engines, 1, sweep, this::recall, output::progress);
            print(memory(), curves);
            List<Map<String, Object>> figures = curves.curves().stream()
                    .map(curve -> Map.<String, Object>of(
                            "engine",
                            curve.engine(),
                            "buildSeconds",
                            curve.build().toMillis() / 1e3,
                            "points",
                            curve.points()))
                    .toList();
            output.print(Map.of("memory", memory(), "curves", figures));
        } finally {
            for (DiskEngine engine : engines) {
                engine.close();
            }
        }
        return 0;
    }

    private void print(List<Memory> memory, Curves curves) {
        output.line(curves.workload() + ", k=" + k.value() + ", degree " + degree + ", " + inFlight.value()
                + " searches in flight, reads bypass the page cache");
        memory.forEach(one -> output.format(
                "%s: %,d bytes in memory, %.3f of vectors and neighbors", one.engine(), one.bytes(), one.share()));
        for (Curves.Curve curve : curves.curves()) {
            output.format("%s, built in %.1f s", curve.engine(), curve.build().toMillis() / 1e3);
            output.line("width  recall   searches/s: median (min to max)");
            for (Curves.Point point : curve.points()) {
                output.format(
                        "%5d   %.4f   %24s",
                        point.ef(), point.recall(), Samples.of(point.rates()).spread("%.0f"));
            }
        }
        for (double recall : RECALLS) {
            curves.comparisons(recall).forEach(comparison -> output.line(comparison.toString()));
        }
    }

    /**
     * The memory of an engine.
     *
     * @param engine its name
     * @param bytes of codes, ids and cached blocks
     * @param share of the bytes of vectors and neighbors
     */
    public record Memory(String engine, long bytes, double share) {}

    /**
     * Builds every engine's index, one after the other.
     *
     * @param files a folder on the disk to measure
     * @param python interpreter with diskannpy, null to leave it out
     */
    private void build(Path files, @Nullable Path python) throws IOException {
        int buildWidth = 2 * degree + 36;
        output.progress("exact neighbors");
        SearchResult[] nearest = new ExactSearch(workload.rows()).searchAll(workload.queries(), k.value());
        truth = Arrays.stream(nearest)
                .map(one -> LongStream.of(one.ids()).mapToInt(Math::toIntExact).toArray())
                .toArray(int[][]::new);
        output.progress("build of roost");
        engines.add(new RoostDisk(workload, files, degree, buildWidth, inFlight.value()));
        output.progress("build of jvector");
        engines.add(new JvectorDisk(workload, files, degree, buildWidth, inFlight.value(), indexBytes() / 10));
        if (python != null) {
            output.progress("build of diskann");
            long codes = (long) workload.rows().length * (workload.dimension() / 4);
            engines.add(new DiskAnnEngine(
                    workload,
                    python,
                    Files.createDirectory(files.resolve("diskann")),
                    degree,
                    buildWidth,
                    inFlight.value(),
                    codes));
        }
    }

    private long indexBytes() {
        return workload.rows().length * (4L * workload.dimension() + 4L * degree);
    }

    /** The memory of each engine. */
    private List<Memory> memory() {
        return engines.stream()
                .map(engine ->
                        new Memory(engine.name(), engine.memoryBytes(), (double) engine.memoryBytes() / indexBytes()))
                .toList();
    }

    private double recall(int[][] found) {
        SearchResult[] neighbors = Arrays.stream(found)
                .map(ids -> new SearchResult(IntStream.of(ids).asLongStream().toArray(), new float[ids.length]))
                .toArray(SearchResult[]::new);
        return Recall.byId(truth, neighbors, k.value());
    }
}
