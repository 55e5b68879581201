package io.github.roost.bench.rivals;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** Measures engines in turns: the recall at each ef once, then the searches per second at each ef in every round. */
public final class CurveMeasurement {
    private final Workload workload;
    private final int maxNeighbors;
    private final SearchResult[] truth;

    /** @param maxNeighbors the max k that will be measured */
    CurveMeasurement(Workload workload, int maxNeighbors) {
        this.workload = workload;
        this.maxNeighbors = maxNeighbors;
        this.truth = new ExactSearch(workload.rows(), workload.metric()).searchAll(workload.queries(), maxNeighbors);
    }

    /** Measures one curve per engine; the first {@code tables} engines are Roost's. */
    Curves curves(List<Engine> engines, int tables, int k, int[] widths, int rounds, Duration slice) throws Exception {
        if (k > maxNeighbors) {
            throw new IllegalArgumentException("k must be at most " + maxNeighbors + ", got " + k);
        }
        return curves(
                workload.name(),
                engines,
                tables,
                k,
                widths,
                rounds,
                slice,
                slice.multipliedBy(4),
                found -> recall(found, k));
    }

    /**
     * Measures one curve per engine, in turns.
     *
     * @param workload its name
     * @param tables number of Roost's engines, which come first
     * @param warmUp how long each engine searches before the first round, 0 if measuring the recall is enough
     * @param recall of the ids found per query, nearest first
     */
    public static Curves curves(
            String workload,
            List<? extends MeasuredEngine> engines,
            int tables,
            int k,
            int[] widths,
            int rounds,
            Duration slice,
            Duration warmUp,
            ToDoubleFunction<int[][]> recall)
            throws Exception {
        int cells = engines.size() * widths.length;
        double[] recalls = new double[cells];
        List<List<Double>> rates = new ArrayList<>();
        for (int cell = 0; cell < cells; cell++) {
            MeasuredEngine engine = engines.get(cell % engines.size());
            // This is also the warm-up: it runs every search path before the first round.
            recalls[cell] = recall.applyAsDouble(engine.search(k, widths[cell / engines.size()]));
            rates.add(new ArrayList<>());
        }
        if (warmUp.isPositive()) {
            for (MeasuredEngine engine : engines) {
                engine.rate(k, widths[0], warmUp);
            }
        }
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < cells; i++) {
                int cell = round % 2 == 0 ? i : cells - 1 - i;
                rates.get(cell).add(engines.get(cell % engines.size()).rate(k, widths[cell / engines.size()], slice));
            }
        }
        return new Curves(
                workload,
                k,
                tables,
                IntStream.range(0, engines.size())
                        .mapToObj(engine -> new Curves.Curve(
                                engines.get(engine).name(),
                                engines.get(engine).buildTime(),
                                IntStream.range(0, widths.length)
                                        .mapToObj(width -> new Curves.Point(
                                                widths[width],
                                                recalls[width * engines.size() + engine],
                                                rates.get(width * engines.size() + engine)))
                                        .toList()))
                        .toList());
    }

    /** An engine that finds fewer than k neighbors of a query marks the others by numbers that are no rows. */
    private double recall(int[][] found, int k) {
        DistanceRecall recall = new DistanceRecall();
        for (int query = 0; query < found.length; query++) {
            float[] vector = workload.queries()[query];
            int[] rows = Arrays.stream(found[query])
                    .filter(row -> row >= 0 && row < workload.rows().length)
                    .distinct()
                    .toArray();
            long[] ids = new long[rows.length];
            float[] distances = new float[rows.length];
            for (int i = 0; i < rows.length; i++) {
                ids[i] = rows[i];
                distances[i] = ExactSearch.distance(vector, workload.rows()[rows[i]], workload.metric());
            }
            recall.add(first(truth[query], k), new SearchResult(ids, distances));
        }
        return recall.share();
    }

    private static SearchResult first(SearchResult neighbors, int k) {
        return new SearchResult(Arrays.copyOf(neighbors.ids(), k), Arrays.copyOf(neighbors.distances(), k));
    }
}
