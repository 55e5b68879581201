package io.github.roost.bench.hnsw;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.bench.ExactSearch;
import io.github.roost.bench.peer.Workload;
import io.github.roost.core.Neighbors;
import io.github.roost.core.vector.ElementType;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Question: how many searches per second does a frozen table answer at a recall, beside plain jvector and hnswlib over the
 * same rows, with the same M and efConstruction, on two threads? In a round every engine takes its turn at every width
 * of the search, in an order that is reversed from round to round, so that drift of the machine falls on all alike.
 */
public final class HnswBench implements AutoCloseable {
    private final Workload workload;
    private final List<HnswEngine> engines = new ArrayList<>();
    /** Roost's among the engines, which are the first. */
    private final List<RoostEngine> tables = new ArrayList<>();

    private final Neighbors[] truth;
    private final int mostNeighbors;

    /**
     * Builds every engine's index, one after the other.
     *
     * @param topology of two cores, for Roost's build
     * @param elements one table of Roost's each, at least one
     * @param python interpreter that has hnswlib, null to leave hnswlib out
     * @param mostNeighbors the largest k to come
     * @param progress is told what is being done
     */
    public HnswBench(
            Workload workload,
            Topology topology,
            List<ElementType> elements,
            @Nullable Path python,
            int m,
            int efConstruction,
            int mostNeighbors,
            Consumer<String> progress)
            throws Exception {
        this.workload = workload;
        this.mostNeighbors = mostNeighbors;
        progress.accept("exact neighbours");
        this.truth = new ExactSearch(workload.rows()).searchAll(workload.queries(), mostNeighbors);
        for (ElementType element : elements) {
            progress.accept("build of " + RoostEngine.name(element));
            RoostEngine engine = new RoostEngine(workload, topology, element, m, efConstruction);
            tables.add(engine);
            engines.add(engine);
        }
        progress.accept("build of jvector");
        engines.add(new JvectorEngine(workload, m, efConstruction));
        if (python != null) {
            progress.accept("build of hnswlib");
            engines.add(new HnswlibEngine(workload, python, m, efConstruction));
        }
    }

    /**
     * What a table of Roost's takes.
     *
     * @param engine its name
     * @param bytes of memory, none of it on the Java heap
     * @param allocated bytes that a search allocates on the Java heap, its result included, by k
     */
    public record Footprint(String engine, long bytes, SortedMap<Integer, Long> allocated) {}

    /**
     * Measures what each of Roost's tables takes.
     *
     * @param ks neighbours to search for
     */
    public List<Footprint> footprints(List<Integer> ks) throws Exception {
        List<Footprint> footprints = new ArrayList<>();
        for (RoostEngine table : tables) {
            SortedMap<Integer, Long> allocated = new TreeMap<>();
            for (int k : ks) {
                allocated.put(k, table.allocatedBytes(k, k));
            }
            footprints.add(new Footprint(table.name(), table.bytes(), allocated));
        }
        return footprints;
    }

    /**
     * Measures one curve an engine.
     *
     * @param k at most what the bench was made for
     * @param widths of the search, ascending, each at least k
     * @param slice how long each engine searches with each width in a round
     */
    public HnswCurves curves(int k, int[] widths, int rounds, Duration slice) throws Exception {
        if (k > mostNeighbors) {
            throw new IllegalArgumentException("k must be at most " + mostNeighbors + ", got " + k);
        }
        int cells = engines.size() * widths.length;
        double[] recalls = new double[cells];
        List<List<Double>> rates = new ArrayList<>();
        for (int cell = 0; cell < cells; cell++) {
            HnswEngine engine = engines.get(cell % engines.size());
            // Also the warm-up: every search path has run before the first round.
            recalls[cell] = recall(engine.search(k, widths[cell / engines.size()]), k);
            rates.add(new ArrayList<>());
        }
        for (HnswEngine engine : engines) {
            engine.rate(k, widths[0], slice.multipliedBy(4));
        }
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < cells; i++) {
                int cell = round % 2 == 0 ? i : cells - 1 - i;
                rates.get(cell).add(engines.get(cell % engines.size()).rate(k, widths[cell / engines.size()], slice));
            }
        }
        return new HnswCurves(
                workload.name(),
                k,
                tables.size(),
                IntStream.range(0, engines.size())
                        .mapToObj(engine -> new HnswCurves.Curve(
                                engines.get(engine).name(),
                                engines.get(engine).buildTime(),
                                IntStream.range(0, widths.length)
                                        .mapToObj(width -> new HnswCurves.Point(
                                                widths[width],
                                                recalls[width * engines.size() + engine],
                                                rates.get(width * engines.size() + engine)))
                                        .toList()))
                        .toList());
    }

    private double recall(int[][] found, int k) {
        DistanceRecall recall = new DistanceRecall();
        for (int query = 0; query < found.length; query++) {
            long[] ids = new long[found[query].length];
            float[] distances = new float[ids.length];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = found[query][i];
                distances[i] = squaredDistance(workload.queries()[query], workload.rows()[found[query][i]]);
            }
            recall.add(first(truth[query], k), new Neighbors(ids, distances));
        }
        return recall.share();
    }

    private static Neighbors first(Neighbors neighbors, int k) {
        return new Neighbors(Arrays.copyOf(neighbors.ids(), k), Arrays.copyOf(neighbors.distances(), k));
    }

    private static float squaredDistance(float[] a, float[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (a[i] - (double) b[i]) * (a[i] - (double) b[i]);
        }
        return (float) sum;
    }

    @Override
    public void close() throws IOException {
        for (HnswEngine engine : engines) {
            engine.close();
        }
    }
}
