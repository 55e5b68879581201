package io.github.roost.bench.rivals;

import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.DataOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options, the JSON and the pictures of the benchmarks that measure curves of searches per second over recall. */
final class CurveOptions {
    static final int QUERIES = 1_000;

    /** The element type that Roost's searches read. */
    enum Element {
        float32,
        int8,
        codes
    }

    private static final String MIXTURE = DataOption.Data.mixture.name();
    private static final String PACKAGES = DataOption.Data.packages.name();

    @Option(
            names = "--data",
            paramLabel = "packages|mixture|glove100|glove50|floret300|minilm|FILE",
            description = {
                "Debian's packages, whose vectors are 8-bit numbers, a mixture of Gaussians, or vectors of floats:",
                "words of GloVe 6B or floret, texts embedded here by MiniLM (384), or a file of ./roost search --base;",
                "default ${DEFAULT-VALUE}."
            })
    private String data;

    private final @Mixin TextOptions texts = new TextOptions(200_000);
    private final @Mixin NumberOption rows;
    private final @Mixin NumberOption dimension = NumberOption.dimension(128, 1, 4_096);

    @Option(
            names = "--centers",
            paramLabel = "N",
            description = {
                "Clusters of the mixture, the fewer, the harder it is to find all neighbors; default a fiftieth of"
                        + " the rows,",
                "of bench hnsw a five hundredth."
            })
    private @Nullable Integer centers;

    @Option(
            names = "--element",
            paramLabel = "float32|int8|codes",
            split = ",",
            description = {
                "Element types that Roost's searches read; one table each. Default all, of bench hnsw float32.",
                "codes: of lists, 8-bit codes before float32."
            })
    private List<Element> elements;

    @Option(
            names = "--k",
            paramLabel = "N",
            split = ",",
            description = "Neighbors per query; default 10, of bench hnsw 10,100.")
    private List<Integer> ks;

    @Option(
            names = "--m",
            paramLabel = "N",
            description = "M: neighbors per node, twice as many in layer 0; default 16.")
    private int m = 16;

    @Option(names = "--ef-construction", paramLabel = "N", description = "ef of the build; default 200.")
    private int efConstruction = 200;

    @Option(
            names = "--picture",
            paramLabel = "FOLDER",
            description = "Also draw each curve as an SVG file in this folder.")
    private @Nullable Path pictures;

    private final int rowsPerCenter;

    /** Creates the options with the defaults that differ from benchmark to benchmark. */
    CurveOptions(DataOption.Data data, int rows, int rowsPerCenter, List<Element> elements, List<Integer> ks) {
        this.data = data.name();
        this.rows = NumberOption.rows(rows, 1, 10_000_000);
        this.rowsPerCenter = rowsPerCenter;
        this.elements = elements;
        this.ks = ks;
    }

    /** Throws if a value is out of range. */
    void check() {
        NumberOption.check(rows, dimension);
        texts.check();
        boolean isKnown = List.of(MIXTURE, PACKAGES, RealData.MINILM).contains(data) || RealData.WORDS.contains(data);
        if (!isKnown && !Files.exists(Path.of(data))) {
            throw new CommandFailure("--data must be packages, mixture, "
                    + String.join(", ", RealData.WORDS)
                    + ", minilm or an existing file, got "
                    + data);
        }
        if (texts.areQueriesWords() && !data.equals(RealData.MINILM)) {
            throw new CommandFailure("--queries must be in without --data minilm, got out");
        }
        Options.require("--centers", centers(), 1, 1_000_000);
        Options.require("--m", m, 2, 256);
        Options.require("--ef-construction", efConstruction, 1, 10_000);
        ks.forEach(k -> Options.require("--k", k, 1, 10_000));
        if (pictures != null && !Files.isDirectory(pictures)) {
            throw new CommandFailure("--picture " + pictures + " is not a directory");
        }
    }

    Workload workload(Consumer<String> progress) throws IOException, InterruptedException {
        if (data.equals(MIXTURE)) {
            return Workload.mixture(rows.value(), QUERIES, dimension.value(), centers(), 42);
        }
        if (data.equals(PACKAGES)) {
            return Workload.packages(RoostHome.packages(), QUERIES);
        }
        int most = rows.isGiven() ? rows.value() : Integer.MAX_VALUE;
        return data.equals(RealData.MINILM)
                ? RealData.texts(texts.count(), most, QUERIES, texts.areQueriesWords(), progress)
                : RealData.read(data, most, QUERIES, progress);
    }

    private int centers() {
        return centers == null ? Math.max(1, rows.value() / rowsPerCenter) : centers;
    }

    /** The name of the data set, or of its file. */
    String data() {
        return String.valueOf(Path.of(data).getFileName());
    }

    /** The element types, each once. */
    List<Element> elements() {
        return elements.stream().distinct().toList();
    }

    /** The layouts of graphs; throws if there is none. */
    List<GraphLayout> layouts() {
        List<GraphLayout> layouts = elements().stream()
                .filter(element -> element != Element.codes)
                .map(element -> element == Element.int8 ? GraphLayout.INT8 : GraphLayout.FLOAT32)
                .toList();
        if (layouts.isEmpty()) {
            throw new CommandFailure("--element must have float32 or int8 for a graph, got codes");
        }
        return layouts;
    }

    List<Integer> ks() {
        return ks;
    }

    /** The largest number of neighbors. */
    int maxNeighbors() {
        return ks.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    int m() {
        return m;
    }

    int efConstruction() {
        return efConstruction;
    }

    /** Draws curves into a file of the folder of pictures, if there is one. */
    void draw(String name, Curves curves) throws IOException {
        if (pictures != null) {
            Files.writeString(pictures.resolve(name + ".svg"), curves.plot().svg());
        }
    }

    /** The figures of a curve for JSON, to which more can be added. */
    static Map<String, Object> figures(int k, Curves.Curve curve) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("k", k);
        figures.put("engine", curve.engine());
        figures.put("buildSeconds", curve.build().toMillis() / 1e3);
        figures.put(
                "points",
                curve.points().stream()
                        .map(point -> {
                            Map<String, Object> figuresAt = new LinkedHashMap<>();
                            figuresAt.put("ef", point.ef());
                            figuresAt.put("recall", point.recall());
                            figuresAt.put("searchesPerSecond", point.rates());
                            return figuresAt;
                        })
                        .toList());
        return figures;
    }
}
