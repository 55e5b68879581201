package io.github.roost.bench.rivals;

import io.github.roost.bench.FirstCores;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.DataOption;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: how many searches per second does a table of fixed rows answer at a given recall, compared with plain jvector and hnswlib over the same rows,
 * with the same M and efConstruction, on two threads? In each round every engine runs at every ef, in an order that is reversed from round to round,
 * so that drift of the machine affects all engines alike.
 */
@Command(
        name = "hnsw",
        description = "Recall and searches per second on two threads, compared with plain jvector and hnswlib.")
public final class HnswBench implements Callable<Integer> {
    private static final double[] RECALLS = {.95, .99};

    private final @Mixin CurveOptions options = new CurveOptions(
            DataOption.Data.packages, 500_000, 500, List.of(CurveOptions.Element.float32), List.of(10, 100));

    @Option(names = "--ef", paramLabel = "N", split = ",", description = "ef of the searches, ascending.")
    private List<Integer> widths = List.of(10, 16, 24, 40, 64, 100, 130, 180, 260, 400);

    private final @Mixin RoundOptions rounds = new RoundOptions(5, 200);
    private final @Mixin HnswlibOption hnswlib = new HnswlibOption();
    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws Exception {
        check();
        Workload workload = options.workload(output::progress);
        Path python = hnswlib.python();
        List<Curves> results = new ArrayList<>();
        try (Engines engines = new Engines(
                workload,
                FirstCores.of(TopologyReader.live().read(), Engine.THREADS),
                options.layouts().stream()
                        .<Engines.Table>map(Engines.Graph::new)
                        .toList(),
                List.of(Engines.JVECTOR, Engines.HNSWLIB),
                python,
                EngineSettings.graph(options.m(), options.efConstruction()),
                options.maxNeighbors(),
                null,
                output::progress)) {
            for (int k : options.ks()) {
                output.progress("searches, k=" + k);
                List<Integer> wide = widths.stream().filter(width -> width >= k).toList();
                results.add(engines.curves(new Sweep(
                        k,
                        wide,
                        Sweep.ALL,
                        rounds.count(),
                        rounds.slice(),
                        rounds.slice().multipliedBy(4))));
            }
            report(results, footprints(engines), workload);
        }
        return 0;
    }

    private void check() {
        options.check();
        rounds.check();
        widths.forEach(width -> Options.require("--ef", width, 1, Vectors.MAX_EF));
        for (int k : options.ks()) {
            if (widths.stream().noneMatch(width -> width >= k)) {
                throw new CommandFailure("--ef must have a width of at least " + k + " for --k " + k);
            }
        }
    }

    /**
     * The memory of one of Roost's tables.
     *
     * @param engine its name
     * @param bytes off-heap memory
     * @param allocatedBytesPerSearch on the Java heap, including the result, by k
     */
    public record Footprint(String engine, long bytes, SortedMap<Integer, Long> allocatedBytesPerSearch) {}

    private List<Footprint> footprints(Engines engines) throws Exception {
        List<Footprint> footprints = new ArrayList<>();
        for (HnswEngine table : engines.graphs()) {
            SortedMap<Integer, Long> allocated = new TreeMap<>();
            for (int k : options.ks()) {
                allocated.put(k, table.allocatedBytes(k, k));
            }
            footprints.add(new Footprint(table.name(), table.bytes(), allocated));
        }
        return footprints;
    }

    private void report(List<Curves> results, List<Footprint> footprints, Workload workload) throws IOException {
        output.format("%s, M=%d, efConstruction=%d", workload.name(), options.m(), options.efConstruction());
        long budget = workload.rows().length * (4L * workload.dimension() + 8L * options.m());
        for (Footprint footprint : footprints) {
            output.format(
                    "%s: table %,d bytes off-heap (%.3f of vectors and neighbors)",
                    footprint.engine(), footprint.bytes(), (double) footprint.bytes() / budget);
            footprint
                    .allocatedBytesPerSearch()
                    .forEach((k, bytes) -> output.format(
                            "%s: a search of k=%d allocates %d bytes on the heap, including its result",
                            footprint.engine(), k, bytes));
        }
        List<Map<String, Object>> figures = new ArrayList<>();
        for (Curves curves : results) {
            print(curves);
            curves.curves().forEach(curve -> figures.add(CurveOptions.figures(curves.k(), curve)));
            options.draw("hnsw-" + options.data() + "-k" + curves.k(), curves);
        }
        output.print(Map.of("workload", workload.name(), "tables", footprints, "curves", figures));
    }

    private void print(Curves curves) {
        for (Curves.Curve curve : curves.curves()) {
            output.format(
                    "%nk=%d  %s, built in %.1f s%n   ef  recall   searches/s: median (min to max)",
                    curves.k(), curve.engine(), curve.build().toMillis() / 1e3);
            for (Curves.Point point : curve.points()) {
                output.format(
                        "%5d   %.4f   %24s",
                        point.ef(), point.recall(), Samples.of(point.rates()).spread("%.0f"));
            }
        }
        for (double recall : RECALLS) {
            curves.comparisons(recall).forEach(comparison -> output.line("k=" + curves.k() + " " + comparison));
        }
    }
}
