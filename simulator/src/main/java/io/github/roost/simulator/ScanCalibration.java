package io.github.roost.simulator;

import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Measures the cost of IVF searches whose rows are all in the private cache: searches of tables that differ in one respect at a time, alone and in
 * groups; fits the costs of the parts to them. All lists are probed, so that the number of scanned rows is known.
 */
final class ScanCalibration {
    private static final int[] GROUPS = {1, 2, 4, 16};
    private static final int[] NEIGHBORS = {10, 60, 300};
    /** Rows, dimension and lists of the tables; none is over half a private cache. */
    private static final int[][] TABLES = {
        {300, 64, 1}, {1_600, 64, 1}, {1_600, 64, 8}, {1_600, 64, 24},
        {100, 256, 1}, {480, 256, 1}, {480, 256, 8}, {800, 128, 4}
    };

    /** Enough queries that the branch predictor cannot learn them. */
    private static final int QUERIES = 1_024;
    /** Number of unknowns before the groups: search, result, pair, held, replaced; then come row and line per group size. */
    private static final int GROUPED = 5;

    private final NonNegativeFit fit = new NonNegativeFit(GROUPED + 2 * GROUPS.length);
    private final double taskNanos;

    private final Consumer<String> progress;

    ScanCalibration(double taskNanos, Consumer<String> progress) {
        this.taskNanos = taskNanos;
        this.progress = progress;
    }

    /**
     * Measures and fits the costs.
     *
     * @param linesInFlight passed on to the result
     */
    Parameters.Scans run(Parameters.LinesInFlight linesInFlight) {
        for (int pass = 0; pass < OneWorker.PASSES; pass++) {
            for (int[] shape : TABLES) {
                boolean first = pass == 0 && shape == TABLES[0];
                measure(shape[0], shape[1], shape[2], first ? OneWorker.COLD : OneWorker.SEEN);
            }
        }
        double[] costs = fit.costs();
        fit.report(costs).forEach(progress);
        List<Parameters.Group> groups = new ArrayList<>();
        for (int group = 0; group < GROUPS.length; group++) {
            int at = GROUPED + 2 * group;
            groups.add(new Parameters.Group(GROUPS[group], costs[at], costs[at + 1]));
        }
        return new Parameters.Scans(
                costs[0], costs[1], costs[2], costs[3], costs[4], linesInFlight, List.copyOf(groups));
    }

    private void measure(int rows, int dimension, int lists, long warmUp) {
        Workload workload = Workload.mixture(rows, QUERIES, dimension, 1, 7);
        try (OneWorker worker = new OneWorker();
                IvfTable table = IvfTable.builder().nlist(lists).build(worker.orchestrator(), workload.rows())) {
            worker.warmNanos(repeat -> searchTogether(table, workload.queries(), repeat, 4, 100), warmUp);
            for (int k : NEIGHBORS) {
                for (int group = 0; group < GROUPS.length; group++) {
                    int size = GROUPS[group];
                    double nanos = worker.nanos(repeat -> searchTogether(table, workload.queries(), repeat, size, k));
                    add(rows, dimension, lists, k, group, nanos / size);
                }
            }
        }
    }

    /** Runs on the worker itself: the searches wait in the batch queues until the worker waits for them. */
    private static void searchTogether(IvfTable table, float[][] queries, int repeat, int size, int k) {
        List<CompletableFuture<SearchResult>> answers = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            answers.add(table.search(queries[(repeat * size + i) % QUERIES], k, table.nlist()));
        }
        answers.forEach(CompletableFuture::join);
    }

    private void add(int rows, int dimension, int lists, int k, int group, double nanos) {
        double lines = (double) dimension * Float.BYTES / Memory.LINE_BYTES;
        NearestSoFar collector = new NearestSoFar(k);
        double replaced = 0;
        double copied = 0;
        for (int list = 0; list < lists; list++) {
            double before = collector.held();
            replaced += collector.look((double) rows / lists, 0);
            copied += before + collector.held();
        }
        double[] counts = new double[GROUPED + 2 * GROUPS.length];
        counts[0] = 1;
        counts[1] = collector.held();
        counts[2] = lists;
        counts[3] = copied;
        counts[4] = replaced;
        // The lists are found by comparing their centroids, one query at a time.
        counts[GROUPED] += lists;
        counts[GROUPED + 1] += lists * lines;
        counts[GROUPED + 2 * group] += rows;
        counts[GROUPED + 2 * group + 1] += rows * lines;
        fit.add(
                "%d rows of %d floats in %d lists, k %d, %d together"
                        .formatted(rows, dimension, lists, k, GROUPS[group]),
                counts,
                Math.max(1, nanos - taskNanos * lists / GROUPS[group]));
    }
}
