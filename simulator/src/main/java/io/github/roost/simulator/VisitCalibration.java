package io.github.roost.simulator;

import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.vector.SearchResult;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Measures the cost of HNSW searches whose nodes are all in the private cache: graph searches of several ef, to which the costs per search, node,
 * line and kept node are fitted. Searches of tables too small for a graph search are measured separately.
 */
final class VisitCalibration {
    /** Rows, dimension and ef of graph searches; the rows are over four times the ef, so that the graph is used. */
    private static final int[][] GRAPH_SEARCHES = {
        {1_800, 64, 10},
        {1_800, 64, 50},
        {1_800, 64, 150},
        {1_800, 64, 400},
        {600, 256, 10},
        {600, 256, 50},
        {600, 256, 140},
        {1_000, 128, 20},
        {1_000, 128, 240}
    };

    /** Rows, dimension and ef of searches that compare all rows. */
    private static final int[][] EXACT = {
        {400, 64, 100},
        {400, 64, 300},
        {1_200, 64, 300},
        {1_200, 64, 600},
        {200, 256, 50},
        {200, 256, 150},
        {600, 256, 150},
        {600, 256, 400},
        {900, 128, 250}
    };

    /** Enough queries that the branch predictor cannot learn them. */
    private static final int QUERIES = 1_024;

    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private final int extraBytes;
    private final NonNegativeFit fit = new NonNegativeFit(5);

    private final Consumer<String> progress;

    private VisitCalibration(int extraBytes, Consumer<String> progress) {
        this.extraBytes = extraBytes;
        this.progress = progress;
    }

    /** Measures graph searches. */
    static Parameters.Visits graphSearches(Parameters.LinesInFlight linesInFlight, Consumer<String> progress)
            throws Exception {
        return new VisitCalibration(TraceRecorder.LINK_BYTES, progress).run(GRAPH_SEARCHES, linesInFlight);
    }

    /** Measures searches that compare all rows. */
    static Parameters.Visits exact(Parameters.LinesInFlight linesInFlight, Consumer<String> progress) throws Exception {
        return new VisitCalibration(0, progress).run(EXACT, linesInFlight);
    }

    private Parameters.Visits run(int[][] shapes, Parameters.LinesInFlight linesInFlight) throws Exception {
        for (int pass = 0; pass < OneWorker.PASSES; pass++) {
            for (int[] shape : shapes) {
                boolean first = pass == 0 && shape == shapes[0];
                measure(shape[0], shape[1], shape[2], first ? OneWorker.COLD : OneWorker.SEEN);
            }
        }
        double[] costs = fit.costs();
        fit.report(costs).forEach(progress);
        return new Parameters.Visits(costs[0], costs[1], costs[2], costs[3], costs[4], linesInFlight);
    }

    private void measure(int rows, int dimension, int width, long warmUp) throws Exception {
        Workload workload = Workload.mixture(rows, QUERIES, dimension, 1 + rows / 200, 7);
        try (OneWorker worker = new OneWorker();
                HnswTable table =
                        HnswTable.builder().efConstruction(40).build(worker.orchestrator(), workload.rows())) {
            SearchFunction<float[], SearchResult> search = table.searchFunction(width, width);
            float[][] queries = workload.queries();
            double nanos = worker.warmNanos(repeat -> search.search(queries[repeat % QUERIES], UNCOUNTED), warmUp);
            LongAdder nodes = new LongAdder();
            SearchContext counting = SearchContext.outside((touched, bytes) -> nodes.add(touched));
            for (float[] query : queries) {
                search.search(query, counting);
            }
            double visits = (double) nodes.sum() / queries.length;
            double lines = (double) (dimension * Float.BYTES + extraBytes) / Memory.LINE_BYTES;
            NearestSoFar found = new NearestSoFar(width);
            double replaced = found.look(visits, 0);
            fit.add(
                    "%s of %d rows of %d floats, width %d"
                            .formatted(extraBytes == 0 ? "scan" : "graph search", rows, dimension, width),
                    new double[] {1, visits, visits * lines, found.held(), replaced},
                    nanos);
        }
    }
}
