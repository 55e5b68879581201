package io.github.roost.bench.hnsw;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.bench.ExactSearch;
import io.github.roost.bench.peer.Workload;
import io.github.roost.core.Neighbors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Measures engines in turns: the recall at each ef once, then the searches per second at each ef in every round. */
final class CurveMeasurement {
    private final Workload workload;
    private final int maxNeighbors;
    private final Neighbors[] truth;

    /** @param maxNeighbors the max k that will be measured */
    CurveMeasurement(Workload workload, int maxNeighbors) {
        this.workload = workload;
        this.maxNeighbors = maxNeighbors;
        this.truth = new ExactSearch(workload.rows()).searchAll(workload.queries(), maxNeighbors);
    }

    /** Measures one curve per engine; the first {@code tables} engines are Roost's. */
    HnswCurves curves(List<HnswEngine> engines, int tables, int k, int[] widths, int rounds, Duration slice)
            throws Exception {
        if (k > maxNeighbors) {
            throw new IllegalArgumentException("k must be at most " + maxNeighbors + ", got " + k);
        }
        int cells = engines.size() * widths.length;
        double[] recalls = new double[cells];
        List<List<Double>> rates = new ArrayList<>();
        for (int cell = 0; cell < cells; cell++) {
            HnswEngine engine = engines.get(cell % engines.size());
            // This is also the warm-up: it runs every search path before the first round.
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
                tables,
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
}
