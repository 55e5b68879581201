package io.github.roost.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.roost.bench.FirstCores;
import io.github.roost.bench.rivals.Curves;
import io.github.roost.bench.rivals.Engine;
import io.github.roost.bench.rivals.EngineSettings;
import io.github.roost.bench.rivals.RivalsBench;
import io.github.roost.core.MappingId;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.PeerPython;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench rivals}: Roost's graph layouts and IVF tables, compared with other libraries. */
@Command(
        name = "rivals",
        description = "Searches per second at equal recall, and bytes per row, compared with other libraries.")
final class RivalsCommand implements Callable<Integer> {
    private static final double[] RECALLS = {.9, .95, .98, .99, .999};
    private static final List<Integer> WIDTHS = List.of(10, 14, 20, 28, 40, 56, 80, 112, 160, 240, 400, 800);
    private static final List<Integer> PROBES = List.of(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128);

    /** With more, nearly all large products would belong to a handful of rows. */
    private static final int MAX_NORM_SPREAD = 2;

    private final Streams streams;

    /** The kind of Roost's tables. */
    enum Index {
        hnsw,
        ivf
    }

    /** How distances are measured. */
    enum By {
        l2,
        ip
    }

    /** The compared libraries. */
    enum Peer {
        all,
        none
    }

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--data",
            paramLabel = "packages|mixture",
            description =
                    "A mixture of Gaussians (the default), or Debian's packages, whose vectors are 8-bit numbers.")
    private HnswBenchCommand.Data data = HnswBenchCommand.Data.mixture;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of the mixture; default 20000.")
    private int rows = 20_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Dimension of the mixture; default 128.")
    private int dimension = 128;

    @Option(
            names = "--centres",
            paramLabel = "N",
            description = "Clusters of the mixture; default a fiftieth of the rows.")
    private int centres;

    @Option(
            names = "--norm-spread",
            paramLabel = "N",
            description =
                    "Multiplies each row by e^(N x) for a standard normal random number x, so that norms vary; default 0.")
    private double normSpread;

    @Option(
            names = "--metric",
            paramLabel = "l2|ip",
            description = "Squared Euclidean distance (the default) or inner product.")
    private By metric = By.l2;

    @Option(
            names = "--index",
            paramLabel = "hnsw|ivf",
            description = "Roost's tables: graphs (the default), or IVF tables, which are compared with IVF indexes.")
    private Index index = Index.hnsw;

    @Option(
            names = "--element",
            paramLabel = "float32|int8|codes",
            split = ",",
            description = {
                "Element types that Roost's searches read; one table each. Default all.",
                "For --index ivf codes are 8-bit codes before float32."
            })
    private List<HnswBenchCommand.Element> elements = List.of(HnswBenchCommand.Element.values());

    @Option(
            names = "--live",
            description = {
                "Also a live table, to which two threads add the rows one at a time. Its build ends when all rows are in graphs;",
                "compare the build of hnswlib, which two threads of its own do with one call of add_items."
            })
    private boolean live;

    @Option(
            names = "--rival",
            paramLabel = "NAME",
            split = ",",
            description = "Libraries to compare; default all of the kind.")
    private @Nullable List<String> chosenRivals;

    @Option(names = "--k", paramLabel = "N", split = ",", description = "Neighbours per query; default 10.")
    private List<Integer> ks = List.of(10);

    @Option(names = "--threads", paramLabel = "1|2", description = "Searching threads; default 2. Builds use two.")
    private int threads = 2;

    @Option(
            names = "--m",
            paramLabel = "N",
            description = "M: neighbours per node, twice as many in layer 0; default 16.")
    private int m = 16;

    @Option(names = "--ef-construction", paramLabel = "N", description = "ef of the build; default 200.")
    private int efConstruction = 200;

    @Option(
            names = "--alone",
            description = "One search at a time, on all threads that a library uses for it, instead of many at once.")
    private boolean alone;

    @Option(
            names = "--nlist",
            paramLabel = "N",
            description = "Lists of IVF indexes; default 4 times the square root of the rows.")
    private int nlist;

    @Option(
            names = {"--ef", "--nprobe"},
            paramLabel = "N",
            split = ",",
            description = "ef, or nprobe for --index ivf, of the searches, ascending.")
    private @Nullable List<Integer> chosenWidths;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all engines; default 3.")
    private int rounds = 3;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per point and round; default 60.")
    private int sliceMillis = 60;

    @Option(
            names = "--peer",
            paramLabel = "all|none",
            description = "none leaves out all but jvector: they need Python and a package index at the first run.")
    private Peer peer = Peer.all;

    @Option(
            names = "--keep",
            paramLabel = "FOLDER",
            description = {
                "Keeps the indexes there for later runs with the same rows, M and efConstruction: building them",
                "takes most of the time. The folder is created if it does not exist, and never deleted. jvector and the live table are always built."
            })
    private @Nullable Path kept;

    @Option(names = "--json", description = "Every figure as JSON instead of tables.")
    private boolean json;

    @Option(
            names = "--picture",
            paramLabel = "FOLDER",
            description = "Also draw each curve as an SVG file in this folder.")
    private @Nullable Path pictures;

    RivalsCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        checkOptions();
        Path home = Path.of(System.getProperty("roost.home", "."));
        Workload workload = workload(home);
        Path python = peer == Peer.none
                ? null
                : PeerPython.prepareAll(
                        home.resolve("bench/target/peers/rivals"),
                        PeerPython.RIVALS,
                        what -> streams.err().println("... " + what));
        int maxNeighbors = ks.stream().mapToInt(Integer::intValue).max().orElseThrow();
        EngineSettings settings = new EngineSettings(m, efConstruction, lists(workload), threads, alone);
        try (RivalsBench bench = new RivalsBench(
                workload,
                FirstCores.of(TopologyReader.live().read(), Engine.THREADS),
                tables(),
                rivals(),
                python,
                settings,
                maxNeighbors,
                keptFolder(settings.nlist()),
                what -> streams.err().println("... " + what))) {
            List<Curves> results = new ArrayList<>();
            for (int k : ks) {
                streams.err().println("... searches, k=" + k);
                int[] wide = widths(k).stream().mapToInt(Integer::intValue).toArray();
                results.add(bench.curves(k, wide, rounds, Duration.ofMillis(sliceMillis)));
            }
            report(workload, bench.sizes(), results);
        }
        return 0;
    }

    private Workload workload(Path home) throws IOException {
        Workload workload = data == HnswBenchCommand.Data.mixture
                ? Workload.mixture(rows, HnswBenchCommand.QUERIES, dimension, centresOrDefault(), 42)
                : HnswBenchCommand.packages(home);
        if (normSpread != 0) {
            workload = workload.withVariousNorms(normSpread, 42);
        }
        return metric == By.ip ? workload.byInnerProduct() : workload;
    }

    private List<RivalsBench.Table> tables() {
        List<RivalsBench.Table> tables = new ArrayList<>();
        elements.stream().distinct().map(this::table).forEach(tables::add);
        if (live) {
            tables.add(new RivalsBench.Live());
        }
        return tables;
    }

    private RivalsBench.Table table(HnswBenchCommand.Element element) {
        if (index == Index.hnsw) {
            return new RivalsBench.Graph(element.layout());
        }
        boolean codes = element == HnswBenchCommand.Element.codes;
        return new RivalsBench.Lists(
                element == HnswBenchCommand.Element.int8 ? ElementType.INT8 : ElementType.FLOAT32, codes);
    }

    private List<String> rivals() {
        return chosenRivals != null ? chosenRivals : index == Index.hnsw ? RivalsBench.RIVALS : RivalsBench.IVF_RIVALS;
    }

    private int lists(Workload workload) {
        return nlist == 0 ? (int) Math.max(1, 4 * Math.sqrt(workload.rows().length)) : nlist;
    }

    /** The widths to search with: a graph search has at least k candidates. */
    private List<Integer> widths(int k) {
        List<Integer> all = chosenWidths != null ? chosenWidths : index == Index.hnsw ? WIDTHS : PROBES;
        return index == Index.ivf
                ? all
                : all.stream().filter(width -> width >= k).toList();
    }

    /** One folder per set of indexes. */
    private @Nullable Path keptFolder(int lists) throws IOException {
        if (kept == null) {
            return null;
        }
        String rowsOf = data == HnswBenchCommand.Data.mixture
                ? "mixture-%d-%d-%d".formatted(rows, dimension, centresOrDefault())
                : data.name();
        if (normSpread != 0) {
            rowsOf += "-spread-" + normSpread;
        }
        String built = index == Index.hnsw ? "m%d-ef%d".formatted(m, efConstruction) : "nlist" + lists;
        return Files.createDirectories(
                kept.resolve("%s-%s-%s".formatted(rowsOf, metric, built)).toAbsolutePath());
    }

    private int centresOrDefault() {
        return centres == 0 ? Math.max(1, rows / 50) : centres;
    }

    private void checkOptions() {
        BenchCommand.require("--rows", rows, 1, 10_000_000);
        BenchCommand.require("--dimension", dimension, 1, 4_096);
        BenchCommand.require("--centres", centresOrDefault(), 1, 1_000_000);
        if (!(normSpread >= 0 && normSpread <= MAX_NORM_SPREAD)) {
            throw new CommandFailure("--norm-spread must be between 0 and " + MAX_NORM_SPREAD + ", got " + normSpread);
        }
        BenchCommand.require("--threads", threads, 1, 2);
        BenchCommand.require("--m", m, 2, 256);
        BenchCommand.require("--ef-construction", efConstruction, 1, 10_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        ks.forEach(k -> BenchCommand.require("--k", k, 1, 10_000));
        BenchCommand.require("--nlist", nlist, 0, MappingId.MAX_PER_ORCHESTRATOR);
        widths(0).forEach(width -> BenchCommand.require("--ef", width, 1, Vectors.MAX_EF));
        for (int k : ks) {
            if (widths(k).size() < 2) {
                throw new CommandFailure("--ef must have two widths of at least " + k + " for --k " + k);
            }
        }
        if (index == Index.ivf && live) {
            throw new CommandFailure("--live must be without --index ivf, got both");
        }
        if (index == Index.ivf && threads != Engine.THREADS) {
            throw new CommandFailure("--threads must be " + Engine.THREADS + " for --index ivf, got " + threads);
        }
        List<String> known = Stream.concat(RivalsBench.RIVALS.stream(), RivalsBench.IVF_RIVALS.stream())
                .distinct()
                .toList();
        for (String rival : rivals()) {
            if (!known.contains(rival)) {
                throw new CommandFailure("--rival must be of " + String.join(", ", known) + ", got " + rival);
            }
        }
        if (pictures != null && !Files.isDirectory(pictures)) {
            throw new CommandFailure("--picture " + pictures + " is not a directory");
        }
    }

    private void report(Workload workload, List<RivalsBench.Size> sizes, List<Curves> results) throws Exception {
        if (json) {
            streams.out().println(asJson(workload, sizes, results).toPrettyString());
        } else {
            streams.out()
                    .printf(
                            Locale.ROOT,
                            "%s, %s, %d thread%s, %s, searches per second: median (min to max) of %d rounds%n",
                            workload.name(),
                            index == Index.hnsw
                                    ? "M=%d, efConstruction=%d".formatted(m, efConstruction)
                                    : "nlist=%d".formatted(lists(workload)),
                            threads,
                            threads == 1 ? "" : "s",
                            alone ? "one search at a time" : "many searches at once",
                            rounds);
            results.forEach(curves -> print(sizes, curves));
        }
        if (pictures != null) {
            for (Curves curves : results) {
                Files.writeString(
                        pictures.resolve(
                                "rivals-" + index + "-" + data + "-k" + curves.k() + "-threads" + threads + ".svg"),
                        curves.plot().svg());
            }
        }
    }

    private void print(List<RivalsBench.Size> sizes, Curves curves) {
        streams.out().printf(Locale.ROOT, "%n| k=%d | build s | bytes per row |", curves.k());
        Arrays.stream(RECALLS).forEach(recall -> streams.out().printf(Locale.ROOT, " recall %s |", recall));
        streams.out().printf("%n| --- | ---: | ---: |%s%n", " ---: |".repeat(RECALLS.length));
        for (int engine = 0; engine < sizes.size(); engine++) {
            RivalsBench.Size size = sizes.get(engine);
            Curves.Curve curve = curves.curves().get(engine);
            streams.out()
                    .printf(
                            Locale.ROOT,
                            "| %s | %.1f | %,.0f |",
                            size.engine(),
                            size.build().toMillis() / 1e3,
                            size.bytesPerRow());
            for (double recall : RECALLS) {
                streams.out().print(" " + at(curve, recall) + " |");
            }
            streams.out().println();
        }
    }

    private String at(Curves.Curve curve, double recall) {
        Samples rates = Samples.of(rates(curve, recall));
        return Double.isNaN(rates.median())
                ? "-"
                : String.format(Locale.ROOT, "%,.0f (%,.0f to %,.0f)", rates.median(), rates.least(), rates.most());
    }

    private List<Double> rates(Curves.Curve curve, double recall) {
        List<Double> rates = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            rates.add(curve.rateAt(recall, round));
        }
        return rates;
    }

    private ObjectNode asJson(Workload workload, List<RivalsBench.Size> sizes, List<Curves> results) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("workload", workload.name())
                .put("threads", threads)
                .put("alone", alone)
                .put("m", m)
                .put("efConstruction", efConstruction)
                .put("nlist", lists(workload));
        var engines = root.putArray("engines");
        for (RivalsBench.Size size : sizes) {
            engines.addObject()
                    .put("engine", size.engine())
                    .put("buildSeconds", size.build().toMillis() / 1e3)
                    .put("bytesPerRow", size.bytesPerRow());
        }
        var curves = root.putArray("curves");
        for (Curves result : results) {
            for (Curves.Curve curve : result.curves()) {
                ObjectNode node = curves.addObject().put("k", result.k()).put("engine", curve.engine());
                var points = node.putArray("points");
                for (Curves.Point point : curve.points()) {
                    ObjectNode at = points.addObject().put("ef", point.ef()).put("recall", point.recall());
                    point.rates().forEach(at.putArray("searchesPerSecond")::add);
                }
                var equal = node.putArray("atRecall");
                for (double recall : RECALLS) {
                    ObjectNode at = equal.addObject().put("recall", recall);
                    var list = at.putArray("searchesPerSecond");
                    rates(curve, recall).stream().filter(Double::isFinite).forEach(list::add);
                }
            }
        }
        return root;
    }
}
