package io.github.roost.examples.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.roost.bench.Samples;
import io.github.roost.bench.hnsw.HnswCurves;
import io.github.roost.bench.hnsw.RivalsBench;
import io.github.roost.bench.peer.PeerPython;
import io.github.roost.bench.peer.Workload;
import io.github.roost.core.Vectors;
import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench rivals}: Roost's graph layouts, compared with other libraries. */
@Command(
        name = "rivals",
        description = "Searches per second at equal recall, and bytes per row, compared with other libraries.")
final class RivalsCommand implements Callable<Integer> {
    private static final double[] RECALLS = {.9, .95, .98, .99, .999};

    private final Streams streams;

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
            names = "--element",
            paramLabel = "float32|int8|codes",
            split = ",",
            description = "Element types that Roost's graph searches read; one table each. Default all.")
    private List<HnswBenchCommand.Element> elements = List.of(HnswBenchCommand.Element.values());

    @Option(names = "--rival", paramLabel = "NAME", split = ",", description = "Libraries to compare; default all.")
    private List<String> rivals = RivalsBench.RIVALS;

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

    @Option(names = "--ef", paramLabel = "N", split = ",", description = "ef of the searches, ascending.")
    private List<Integer> widths = List.of(10, 14, 20, 28, 40, 56, 80, 112, 160, 240, 400, 800);

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
                "takes most of the time. The folder is created if it does not exist, and never deleted. jvector is always built."
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
        Workload workload = data == HnswBenchCommand.Data.mixture
                ? Workload.mixture(rows, HnswBenchCommand.QUERIES, dimension, centresOrDefault(), 42)
                : HnswBenchCommand.packages(home);
        Path python = peer == Peer.none || rivals.isEmpty()
                ? null
                : PeerPython.prepareAll(
                        home.resolve("bench/target/peers/rivals"),
                        PeerPython.RIVALS,
                        what -> streams.err().println("... " + what));
        int maxNeighbors = ks.stream().mapToInt(Integer::intValue).max().orElseThrow();
        List<GraphLayout> layouts = elements.stream()
                .distinct()
                .map(HnswBenchCommand.Element::layout)
                .toList();
        try (RivalsBench bench = new RivalsBench(
                workload,
                TopologyReader.live().read(),
                layouts,
                rivals,
                python,
                m,
                efConstruction,
                threads,
                maxNeighbors,
                keptFolder(),
                what -> streams.err().println("... " + what))) {
            List<HnswCurves> results = new ArrayList<>();
            for (int k : ks) {
                streams.err().println("... searches, k=" + k);
                int[] wide = widths.stream()
                        .mapToInt(Integer::intValue)
                        .filter(width -> width >= k)
                        .toArray();
                results.add(bench.curves(k, wide, rounds, Duration.ofMillis(sliceMillis)));
            }
            report(workload, bench.sizes(), results);
        }
        return 0;
    }

    /** One folder per set of indexes. */
    private @Nullable Path keptFolder() throws IOException {
        if (kept == null) {
            return null;
        }
        String rowsOf = data == HnswBenchCommand.Data.mixture
                ? "mixture-%d-%d-%d".formatted(rows, dimension, centresOrDefault())
                : data.name();
        return Files.createDirectories(
                kept.resolve("%s-m%d-ef%d".formatted(rowsOf, m, efConstruction)).toAbsolutePath());
    }

    private int centresOrDefault() {
        return centres == 0 ? Math.max(1, rows / 50) : centres;
    }

    private void checkOptions() {
        BenchCommand.require("--rows", rows, 1, 10_000_000);
        BenchCommand.require("--dimension", dimension, 1, 4_096);
        BenchCommand.require("--centres", centresOrDefault(), 1, 1_000_000);
        BenchCommand.require("--threads", threads, 1, 2);
        BenchCommand.require("--m", m, 2, 256);
        BenchCommand.require("--ef-construction", efConstruction, 1, 10_000);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
        ks.forEach(k -> BenchCommand.require("--k", k, 1, 10_000));
        widths.forEach(width -> BenchCommand.require("--ef", width, 1, Vectors.MAX_EF));
        for (int k : ks) {
            if (widths.stream().filter(width -> width >= k).count() < 2) {
                throw new CommandFailure("--ef must have two widths of at least " + k + " for --k " + k);
            }
        }
        for (String rival : rivals) {
            if (!RivalsBench.RIVALS.contains(rival)) {
                throw new CommandFailure(
                        "--rival must be of " + String.join(", ", RivalsBench.RIVALS) + ", got " + rival);
            }
        }
        if (pictures != null && !Files.isDirectory(pictures)) {
            throw new CommandFailure("--picture " + pictures + " is not a directory");
        }
    }

    private void report(Workload workload, List<RivalsBench.Size> sizes, List<HnswCurves> results) throws Exception {
        if (json) {
            streams.out().println(asJson(workload, sizes, results).toPrettyString());
        } else {
            streams.out()
                    .printf(
                            Locale.ROOT,
                            "%s, M=%d, efConstruction=%d, %d thread%s, searches per second: median (min to max) of %d rounds%n",
                            workload.name(),
                            m,
                            efConstruction,
                            threads,
                            threads == 1 ? "" : "s",
                            rounds);
            results.forEach(curves -> print(sizes, curves));
        }
        if (pictures != null) {
            for (HnswCurves curves : results) {
                Files.writeString(
                        pictures.resolve("rivals-" + data + "-k" + curves.k() + "-threads" + threads + ".svg"),
                        curves.plot().svg());
            }
        }
    }

    private void print(List<RivalsBench.Size> sizes, HnswCurves curves) {
        streams.out().printf(Locale.ROOT, "%n| k=%d | build s | bytes per row |", curves.k());
        Arrays.stream(RECALLS).forEach(recall -> streams.out().printf(Locale.ROOT, " recall %s |", recall));
        streams.out().printf("%n| --- | ---: | ---: |%s%n", " ---: |".repeat(RECALLS.length));
        for (int engine = 0; engine < sizes.size(); engine++) {
            RivalsBench.Size size = sizes.get(engine);
            HnswCurves.Curve curve = curves.curves().get(engine);
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

    private String at(HnswCurves.Curve curve, double recall) {
        Samples rates = Samples.of(rates(curve, recall));
        return Double.isNaN(rates.median())
                ? "-"
                : String.format(Locale.ROOT, "%,.0f (%,.0f to %,.0f)", rates.median(), rates.least(), rates.most());
    }

    private List<Double> rates(HnswCurves.Curve curve, double recall) {
        List<Double> rates = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            rates.add(curve.rateAt(recall, round));
        }
        return rates;
    }

    private ObjectNode asJson(Workload workload, List<RivalsBench.Size> sizes, List<HnswCurves> results) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("workload", workload.name())
                .put("threads", threads)
                .put("m", m)
                .put("efConstruction", efConstruction);
        var engines = root.putArray("engines");
        for (RivalsBench.Size size : sizes) {
            engines.addObject()
                    .put("engine", size.engine())
                    .put("buildSeconds", size.build().toMillis() / 1e3)
                    .put("bytesPerRow", size.bytesPerRow());
        }
        var curves = root.putArray("curves");
        for (HnswCurves result : results) {
            for (HnswCurves.Curve curve : result.curves()) {
                ObjectNode node = curves.addObject().put("k", result.k()).put("engine", curve.engine());
                var points = node.putArray("points");
                for (HnswCurves.Point point : curve.points()) {
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
