package io.github.roost.bench.rivals;

import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Question: how many searches per second does a frozen table answer at a given recall, compared with plain jvector and hnswlib over the same rows,
 * with the same M and efConstruction, on two threads? In each round every engine runs at every ef, in an order that is reversed from round to round,
 * so that drift of the machine affects all engines alike.
 */
public final class HnswBench implements AutoCloseable {
    private final List<Engine> engines = new ArrayList<>();
    /** Roost's engines, which are the first of {@code engines}. */
    private final List<HnswEngine> tables = new ArrayList<>();

    private final CurveMeasurement measurement;

    /**
     * Builds every engine's index, one after the other.
     *
     * @param topology of two cores, for Roost's build
     * @param layouts one Roost table each, at least one
     * @param python interpreter with hnswlib, null to leave hnswlib out
     * @param maxNeighbors the max k that will be measured
     * @param progress receives messages about the current step
     */
    public HnswBench(
            Workload workload,
            Topology topology,
            List<GraphLayout> layouts,
            @Nullable Path python,
            int m,
            int efConstruction,
            int maxNeighbors,
            Consumer<String> progress)
            throws Exception {
        progress.accept("exact neighbours");
        this.measurement = new CurveMeasurement(workload, maxNeighbors);
        EngineSettings settings = EngineSettings.graph(m, efConstruction);
        for (GraphLayout layout : layouts) {
            progress.accept("build of " + HnswEngine.name(layout));
            HnswEngine engine = new HnswEngine(workload, topology, layout, settings);
            tables.add(engine);
            engines.add(engine);
        }
        progress.accept("build of jvector");
        engines.add(new JvectorEngine(workload, settings));
        if (python != null) {
            progress.accept("build of hnswlib");
            engines.add(new RivalEngine("hnswlib", workload, python, settings));
        }
    }

    /**
     * The memory of one of Roost's tables.
     *
     * @param engine its name
     * @param bytes off-heap memory
     * @param allocated Java heap bytes allocated per search, including the result, by k
     */
    public record Footprint(String engine, long bytes, SortedMap<Integer, Long> allocated) {}

    /**
     * Measures the memory of each of Roost's tables.
     *
     * @param ks values of k to search with
     */
    public List<Footprint> footprints(List<Integer> ks) throws Exception {
        List<Footprint> footprints = new ArrayList<>();
        for (HnswEngine table : tables) {
            SortedMap<Integer, Long> allocated = new TreeMap<>();
            for (int k : ks) {
                allocated.put(k, table.allocatedBytes(k, k));
            }
            footprints.add(new Footprint(table.name(), table.bytes(), allocated));
        }
        return footprints;
    }

    /**
     * Measures one curve per engine.
     *
     * @param k at most {@code maxNeighbors}
     * @param widths values of ef, ascending, each at least k
     * @param slice how long each engine searches at each ef in a round
     */
    public Curves curves(int k, int[] widths, int rounds, Duration slice) throws Exception {
        return measurement.curves(engines, tables.size(), k, widths, rounds, slice);
    }

    @Override
    public void close() throws IOException {
        for (Engine engine : engines) {
            engine.close();
        }
    }
}
