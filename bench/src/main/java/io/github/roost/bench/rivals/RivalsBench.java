package io.github.roost.bench.rivals;

import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.roost.bench.FirstCores;
import io.github.roost.bench.Provenance;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.DataOption;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.KeepOption;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.testkit.PeerPython;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: how do Roost's graph layouts, or its IVF tables, compare with other libraries, at equal recall, on one or two threads? Each library runs
 * in its own process, except jvector. In each round every engine runs at every ef, in an order that is reversed from round to round, so that drift of
 * the machine affects all engines alike. All engines have the same M and efConstruction or the same number of lists, and two build threads.
 */
@Command(
        name = "rivals",
        description = "Searches per second at equal recall, and bytes per row, compared with other libraries.")
public final class RivalsBench implements Callable<Integer> {
    private static final double[] RECALLS = {.8, .9, .95, .98, .99};
    private static final List<Integer> WIDTHS =
            List.of(10, 14, 20, 28, 40, 56, 80, 112, 160, 240, 400, 560, 800, 1_120, 1_600);
    private static final List<Integer> PROBES = List.of(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128);

    /** With more, nearly all large products would belong to a handful of rows. */
    private static final int MAX_NORM_SPREAD = 2;

    /** The kind of Roost's tables. */
    enum Index {
        hnsw,
        ivf
    }

    /** How distances are measured. */
    enum By {
        l2,
        cosine,
        ip
    }

    /** The compared libraries. */
    enum Peer {
        all,
        none
    }

    private final @Mixin CurveOptions options =
            new CurveOptions(DataOption.Data.mixture, 20_000, 50, List.of(CurveOptions.Element.values()), List.of(10));

    @Option(
            names = "--norm-spread",
            paramLabel = "N",
            description =
                    "Multiplies each row by e^(N x) for a standard normal random number x, so that norms vary; default"
                            + " 0.")
    private double normSpread;

    @Option(
            names = "--metric",
            paramLabel = "l2|cosine|ip",
            description = "Squared Euclidean distance (the default), cosine or inner product.")
    private By metric = By.l2;

    @Option(
            names = "--index",
            paramLabel = "hnsw|ivf",
            description = "Roost's tables: graphs (the default), or IVF tables, which are compared with IVF indexes.")
    private Index index = Index.hnsw;

    @Option(
            names = "--rival",
            paramLabel = "NAME",
            split = ",",
            description = "Libraries to compare; default all of the kind.")
    private @Nullable List<String> chosenRivals;

    private final @Mixin NumberOption threads = NumberOption.threads(2, 2);

    @Option(
            names = "--alone",
            description = "One search at a time, on all threads that a library uses for it, instead of many at once.")
    private boolean alone;

    private final @Mixin NumberOption nlist = NumberOption.nlist();

    @Option(
            names = {"--ef", "--nprobe"},
            paramLabel = "N",
            split = ",",
            description = "ef, or nprobe for --index ivf, of the searches, ascending.")
    private @Nullable List<Integer> chosenWidths;

    private final @Mixin RoundOptions rounds = new RoundOptions(3, 60);

    @Option(
            names = "--peer",
            paramLabel = "all|none",
            description = "none leaves out all but jvector: they need Python and a package index at the first run.")
    private Peer peer = Peer.all;

    private final @Mixin KeepOption keep = new KeepOption();
    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws Exception {
        checkOptions();
        Workload workload = workload();
        Path python = peer == Peer.none
                ? null
                : PeerPython.prepareAll(RoostHome.peer("rivals"), PeerPython.RIVALS, output::progress);
        Topology topology = TopologyReader.live().read();
        EngineSettings settings =
                new EngineSettings(options.m(), options.efConstruction(), lists(workload), threads.value(), alone);
        try (Engines engines = new Engines(
                workload,
                FirstCores.of(topology, Engine.THREADS),
                tables(),
                rivals(),
                python,
                settings,
                options.maxNeighbors(),
                keptFolder(workload, settings.nlist()),
                output::progress)) {
            List<Engines.Size> sizes = engines.sizes();
            List<Curves> results = new ArrayList<>();
            for (int k : options.ks()) {
                output.progress("searches, k=" + k);
                results.add(engines.curves(new Sweep(
                        k,
                        widths(k),
                        RECALLS[RECALLS.length - 1],
                        rounds.count(),
                        rounds.slice(),
                        rounds.slice().multipliedBy(4))));
            }
            report(workload, topology, sizes, results);
        }
        return 0;
    }

    private Workload workload() throws IOException, InterruptedException {
        Workload workload = options.workload(output::progress);
        if (normSpread != 0) {
            workload = workload.withVariousNorms(normSpread, 42);
        }
        return switch (metric) {
            case l2 -> workload;
            case cosine -> workload.byCosine();
            case ip -> workload.byInnerProduct();
        };
    }

    private List<Engines.Table> tables() {
        List<Engines.Table> tables = new ArrayList<>();
        if (index == Index.hnsw) {
            options.layouts().forEach(layout -> tables.add(new Engines.Graph(layout)));
        } else {
            options.elements().forEach(element -> tables.add(lists(element)));
        }
        return tables;
    }

    private static Engines.Table lists(CurveOptions.Element element) {
        boolean codes = element == CurveOptions.Element.codes;
        return new Engines.Lists(element == CurveOptions.Element.int8 ? ElementType.INT8 : ElementType.FLOAT32, codes);
    }

    private List<String> rivals() {
        return chosenRivals != null ? chosenRivals : index == Index.hnsw ? Engines.RIVALS : Engines.IVF_RIVALS;
    }

    private int lists(Workload workload) {
        return nlist.value() == 0 ? (int) Math.max(1, 4 * Math.sqrt(workload.rows().length)) : nlist.value();
    }

    /** The widths to search with: a graph search has at least k candidates. */
    private List<Integer> widths(int k) {
        if (chosenWidths == null && index == Index.hnsw) {
            return Stream.concat(Stream.of(k), WIDTHS.stream().filter(width -> width > k))
                    .toList();
        }
        List<Integer> all = chosenWidths != null ? chosenWidths : PROBES;
        return index == Index.ivf
                ? all
                : all.stream().filter(width -> width >= k).toList();
    }

    /** One folder per set of indexes. */
    private @Nullable Path keptFolder(Workload workload, int lists) throws IOException {
        Path kept = keep.folder();
        if (kept == null) {
            return null;
        }
        String built =
                index == Index.hnsw ? "m%d-ef%d".formatted(options.m(), options.efConstruction()) : "nlist" + lists;
        String name = "%s-%s-%s-%s".formatted(options.data(), Workload.checksum(workload.rows()), metric, built);
        return Files.createDirectories(kept.resolve(name).toAbsolutePath());
    }

    private void checkOptions() {
        options.check();
        rounds.check();
        if (!(normSpread >= 0 && normSpread <= MAX_NORM_SPREAD)) {
            throw new CommandFailure("--norm-spread must be between 0 and " + MAX_NORM_SPREAD + ", got " + normSpread);
        }
        NumberOption.check(threads, nlist);
        widths(1).forEach(width -> Options.require("--ef", width, 1, Vectors.MAX_EF));
        for (int k : options.ks()) {
            if (widths(k).size() < 2) {
                throw new CommandFailure("--ef must have two widths of at least " + k + " for --k " + k);
            }
        }
        if (index == Index.ivf && threads.value() != Engine.THREADS) {
            throw new CommandFailure(
                    "--threads must be " + Engine.THREADS + " for --index ivf, got " + threads.value());
        }
        List<String> known = Stream.concat(Engines.RIVALS.stream(), Engines.IVF_RIVALS.stream())
                .distinct()
                .toList();
        for (String rival : rivals()) {
            if (!known.contains(rival)) {
                throw new CommandFailure("--rival must be of " + String.join(", ", known) + ", got " + rival);
            }
        }
    }

    private void report(Workload workload, Topology topology, List<Engines.Size> sizes, List<Curves> results)
            throws IOException {
        Map<String, String> versions =
                new TreeMap<>(peer == Peer.none ? Map.of() : Provenance.pinned(PeerPython.RIVALS));
        versions.put("jvector", Provenance.versionOf(GraphSearcher.class));
        Provenance where = Provenance.here(RoostHome.folder(""), topology, versions);
        String data = "rows %s, queries %s (SHA-256)"
                .formatted(Workload.checksum(workload.rows()), Workload.checksum(workload.queries()));
        output.line(where.inWords());
        output.line(where.versions().entrySet().stream()
                .map(version -> version.getKey() + " " + version.getValue())
                .collect(Collectors.joining(", ", "Roost " + where.commit() + ", ", "; " + data)));
        output.format(
                "%s, %s, %d thread%s, %s, searches per second: median (min to max) of %d rounds",
                workload.name(),
                index == Index.hnsw
                        ? "M=%d, efConstruction=%d".formatted(options.m(), options.efConstruction())
                        : "nlist=%d".formatted(lists(workload)),
                threads.value(),
                threads.value() == 1 ? "" : "s",
                alone ? "one search at a time" : "many searches at once",
                rounds.count());
        List<Map<String, Object>> figures = new ArrayList<>();
        for (Curves curves : results) {
            print(sizes, curves);
            curves.curves().forEach(curve -> figures.add(figures(curves.k(), curve)));
            options.draw(
                    "rivals-%s-%s-k%d-threads%d".formatted(index, options.data(), curves.k(), threads.value()), curves);
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("workload", workload.name());
        all.put("data", data);
        all.put("provenance", where);
        all.put("threads", threads.value());
        all.put("alone", alone);
        all.put("index", index.name());
        all.put("m", options.m());
        all.put("efConstruction", options.efConstruction());
        all.put("nlist", lists(workload));
        all.put(
                "engines",
                sizes.stream()
                        .map(size -> Map.of(
                                "engine",
                                size.engine(),
                                "buildSeconds",
                                size.build().toMillis() / 1e3,
                                "bytesPerRow",
                                size.bytesPerRow()))
                        .toList());
        all.put("curves", figures);
        all.put(
                "againstTheBest",
                results.stream()
                        .flatMap(curves -> againstTheBest(curves).stream())
                        .toList());
        output.print(all);
    }

    private void print(List<Engines.Size> sizes, Curves curves) {
        output.format(
                "%n| k=%d | build s | bytes per row |%s",
                curves.k(),
                Arrays.stream(RECALLS)
                        .mapToObj(recall -> " recall " + recall + " |")
                        .collect(Collectors.joining()));
        output.line("| --- | ---: | ---: |" + " ---: |".repeat(RECALLS.length));
        for (Engines.Size size : sizes) {
            Curves.Curve curve = curves.curves().stream()
                    .filter(each -> each.engine().equals(size.engine()))
                    .findFirst()
                    .orElse(null);
            String cells = curve == null
                    ? " failed |".repeat(RECALLS.length)
                    : Arrays.stream(RECALLS)
                            .mapToObj(recall -> " " + curve.at(recall) + " |")
                            .collect(Collectors.joining());
            output.format(
                    "| %s | %.1f | %,.0f |%s", size.engine(), size.build().toMillis() / 1e3, size.bytesPerRow(), cells);
        }
        for (Curves.Curve table : curves.curves().subList(0, curves.tables())) {
            for (double recall : RECALLS) {
                curves.againstTheBest(table, recall).ifPresent(best -> output.line("k=" + curves.k() + " " + best));
            }
        }
    }

    private static List<Map<String, Object>> againstTheBest(Curves curves) {
        List<Map<String, Object>> figures = new ArrayList<>();
        for (Curves.Curve table : curves.curves().subList(0, curves.tables())) {
            for (double recall : RECALLS) {
                curves.againstTheBest(table, recall)
                        .ifPresent(best -> figures.add(Map.of(
                                "k",
                                curves.k(),
                                "recall",
                                recall,
                                "engine",
                                table.engine(),
                                "best",
                                best.other().engine(),
                                "ratios",
                                best.ratios())));
            }
        }
        return figures;
    }

    private static Map<String, Object> figures(int k, Curves.Curve curve) {
        Map<String, Object> figures = CurveOptions.figures(k, curve);
        figures.put(
                "atRecall",
                Arrays.stream(RECALLS)
                        .mapToObj(recall -> Map.of(
                                "recall",
                                recall,
                                "searchesPerSecond",
                                curve.ratesAt(recall).stream()
                                        .filter(Double::isFinite)
                                        .toList()))
                        .toList());
        return figures;
    }
}
