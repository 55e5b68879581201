package io.github.roost.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.roost.bench.FirstCores;
import io.github.roost.bench.rivals.Curves;
import io.github.roost.bench.rivals.Engine;
import io.github.roost.bench.rivals.HnswBench;
import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.PeerPython;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench hnsw}: frozen tables, compared with jvector and hnswlib. */
@Command(
        name = "hnsw",
        description = "Recall and searches per second on two threads, compared with plain jvector and hnswlib.")
final class HnswBenchCommand implements Callable<Integer> {
    private static final double[] RECALLS = {.95, .99};
    static final int QUERIES = 1_000;

    private final Streams streams;

    /** The data to search. */
    enum Data {
        packages,
        mixture
    }

    /** The element type that graph searches read. */
    enum Element {
        float32(GraphLayout.FLOAT32),
        int8(GraphLayout.INT8),
        codes(GraphLayout.NEIGHBOR_CODES);

        private final GraphLayout layout;

        Element(GraphLayout layout) {
            this.layout = layout;
        }

        GraphLayout layout() {
            return layout;
        }
    }

    /** Compared libraries, in addition to jvector. */
    enum Peer {
        hnswlib,
        none
    }

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--data",
            paramLabel = "packages|mixture",
            description = "Debian's packages (the default), or a mixture of Gaussians.")
    private Data data = Data.packages;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the mixture; default 500000.")
    private int rows = 500_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Dimension of the mixture; default 128.")
    private int dimension = 128;

    @Option(
            names = "--centres",
            paramLabel = "N",
            description = "Clusters of the mixture; default 1000. The fewer, the harder it is to find all neighbours.")
    private int centres = 1_000;

    @Option(
            names = "--element",
            paramLabel = "float32|int8|codes",
            split = ",",
            description =
                    "Element types that Roost's graph searches read (codes: of neighbours); one table each. Default float32.")
    private List<Element> elements = List.of(Element.float32);

    @Option(names = "--k", paramLabel = "N", split = ",", description = "Neighbours per query; default 10,100.")
    private List<Integer> ks = List.of(10, 100);

    @Option(
            names = "--m",
            paramLabel = "N",
            description = "M: neighbours per node, twice as many in layer 0; default 16.")
    private int m = 16;

    @Option(names = "--ef-construction", paramLabel = "N", description = "ef of the build; default 200.")
    private int efConstruction = 200;

    @Option(names = "--ef", paramLabel = "N", split = ",", description = "ef of the searches, ascending.")
    private List<Integer> widths = List.of(10, 16, 24, 40, 64, 100, 130, 180, 260, 400);

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all engines; default 5.")
    private int rounds = 5;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per point and round; default 200.")
    private int sliceMillis = 200;

    @Option(names = "--peer", paramLabel = "hnswlib|none", description = "none leaves out hnswlib, which needs Python.")
    private Peer peer = Peer.hnswlib;

    @Option(names = "--json", description = "Every figure as JSON instead of tables.")
    private boolean json;

    @Option(
            names = "--picture",
            paramLabel = "FOLDER",
            description = "Also draw each curve as an SVG file in this folder.")
    private @Nullable Path pictures;

    HnswBenchCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        checkOptions();
        Path home = Path.of(System.getProperty("roost.home", "."));
        Workload workload = workload(home);
        Path python = peer == Peer.none
                ? null
                : PeerPython.prepare(home.resolve("bench/target/peers/hnswlib"), PeerPython.HNSWLIB);
        int maxNeighbors = ks.stream().mapToInt(Integer::intValue).max().orElseThrow();
        List<Curves> results = new ArrayList<>();
        try (HnswBench bench = new HnswBench(
                workload,
                FirstCores.of(TopologyReader.live().read(), Engine.THREADS),
                elements.stream().distinct().map(Element::layout).toList(),
                python,
                m,
                efConstruction,
                maxNeighbors,
                what -> streams.err().println("... " + what))) {
            for (int k : ks) {
                streams.err().println("... searches, k=" + k);
                int[] wide = widths.stream()
                        .mapToInt(Integer::intValue)
                        .filter(width -> width >= k)
                        .toArray();
                results.add(bench.curves(k, wide, rounds, Duration.ofMillis(sliceMillis)));
            }
            report(results, bench.footprints(ks), workload);
        }
        return 0;
    }

    private void checkOptions() {
        BenchCommand.require("--rows", rows, 1, 10_000_000);
        BenchCommand.require("--dimension", dimension, 1, 4_096);
        BenchCommand.require("--centres", centres, 1, 1_000_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        ks.forEach(k -> BenchCommand.require("--k", k, 1, 10_000));
        widths.forEach(width -> BenchCommand.require("--ef", width, 1, Vectors.MAX_EF));
        for (int k : ks) {
            if (widths.stream().noneMatch(width -> width >= k)) {
                throw new CommandFailure("--ef must have a width of at least " + k + " for --k " + k);
            }
        }
        if (pictures != null && !Files.isDirectory(pictures)) {
            throw new CommandFailure("--picture " + pictures + " is not a directory");
        }
    }

    private Workload workload(Path home) throws IOException {
        if (data == Data.mixture) {
            return Workload.mixture(rows, QUERIES, dimension, centres, 42);
        }
        return packages(home);
    }

    static Workload packages(Path home) throws IOException {
        DebianPackages packages = DebianPackages.read(home.resolve("data/debian-packages"));
        float[][] queries = Stream.concat(packages.queries().stream(), packages.phrases().stream())
                .limit(QUERIES)
                .map(DebianPackages.Query::vector)
                .toArray(float[][]::new);
        return new Workload(
                "%,d x %d Debian packages".formatted(packages.vectors().length, DebianPackages.DIMENSION),
                packages.vectors(),
                queries);
    }

    private void report(List<Curves> results, List<HnswBench.Footprint> footprints, Workload workload)
            throws IOException {
        if (json) {
            streams.out().println(asJson(results, footprints).toPrettyString());
        } else {
            streams.out().printf(Locale.ROOT, "%s, M=%d, efConstruction=%d%n", workload.name(), m, efConstruction);
            long budget = workload.rows().length * (4L * workload.rows()[0].length + 8L * m);
            footprints.forEach(footprint -> print(footprint, budget));
            results.forEach(this::print);
        }
        if (pictures != null) {
            for (Curves curves : results) {
                Files.writeString(
                        pictures.resolve("hnsw-" + data + "-k" + curves.k() + ".svg"),
                        curves.plot().svg());
            }
        }
    }

    private void print(HnswBench.Footprint footprint, long budget) {
        streams.out()
                .printf(
                        Locale.ROOT,
                        "%s: table %,d bytes off-heap (%.3f of vectors and neighbours)%n",
                        footprint.engine(),
                        footprint.bytes(),
                        (double) footprint.bytes() / budget);
        footprint
                .allocated()
                .forEach((k, bytes) -> streams.out()
                        .println(footprint.engine() + ": a search of k=" + k + " allocates " + bytes
                                + " bytes on the heap, including its result"));
    }

    private void print(Curves curves) {
        for (Curves.Curve curve : curves.curves()) {
            streams.out()
                    .printf(
                            Locale.ROOT,
                            "%nk=%d  %s, built in %.1f s%n   ef  recall   searches/s (median, min, max)%n",
                            curves.k(),
                            curve.engine(),
                            curve.build().toMillis() / 1e3);
            for (Curves.Point point : curve.points()) {
                Samples rates = Samples.of(point.rates());
                streams.out()
                        .printf(
                                Locale.ROOT,
                                "%5d   %.4f   %8.0f %8.0f %8.0f%n",
                                point.ef(),
                                point.recall(),
                                rates.median(),
                                rates.least(),
                                rates.most());
            }
        }
        for (double recall : RECALLS) {
            curves.comparisons(recall).forEach(comparison -> streams.out().println(comparison(curves.k(), comparison)));
        }
    }

    private static String comparison(int k, Curves.Comparison comparison) {
        String table = comparison.table().engine();
        String other = comparison.other().engine();
        Samples ratios = Samples.of(comparison.ratios());
        if (Double.isNaN(ratios.median())) {
            return String.format(
                    Locale.ROOT,
                    "k=%d at recall %.2f: %s or %s has no points on both sides of it",
                    k,
                    comparison.recall(),
                    other,
                    table);
        }
        return String.format(
                Locale.ROOT,
                "k=%d at recall %.2f: %s is %.2f times %s (%.2f to %.2f)",
                k,
                comparison.recall(),
                table,
                ratios.median(),
                other,
                ratios.least(),
                ratios.most());
    }

    private static ObjectNode asJson(List<Curves> results, List<HnswBench.Footprint> footprints) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("workload", results.getFirst().workload());
        ArrayNode tables = root.putArray("tables");
        for (HnswBench.Footprint footprint : footprints) {
            ObjectNode table = tables.addObject();
            table.put("engine", footprint.engine());
            table.put("bytes", footprint.bytes());
            ObjectNode allocated = table.putObject("allocatedBytesPerSearch");
            footprint.allocated().forEach((k, bytes) -> allocated.put(String.valueOf(k), bytes));
        }
        ArrayNode curves = root.putArray("curves");
        for (Curves result : results) {
            for (Curves.Curve curve : result.curves()) {
                ObjectNode node = curves.addObject();
                node.put("k", result.k());
                node.put("engine", curve.engine());
                node.put("buildSeconds", curve.build().toMillis() / 1e3);
                ArrayNode points = node.putArray("points");
                for (Curves.Point point : curve.points()) {
                    ObjectNode at = points.addObject();
                    at.put("ef", point.ef());
                    at.put("recall", point.recall());
                    ArrayNode rates = at.putArray("searchesPerSecond");
                    point.rates().forEach(rates::add);
                }
            }
        }
        return root;
    }
}
