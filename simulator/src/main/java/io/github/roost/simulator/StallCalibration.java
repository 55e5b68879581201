package io.github.roost.simulator;

import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Measures how long searches wait for a cache and for memory: runs the same searches on tables of the same rows, on one table that fits the private
 * cache, then round-robin on as many as only the last-level cache holds, and on more than it holds.
 */
final class StallCalibration {
    private static final int DIMENSION = 128;
    /** One table takes a little over half a mebibyte. */
    private static final int ROWS = 1_000;

    private static final int ROW_BYTES = DIMENSION * Float.BYTES + 2 * TraceRecorder.LINK_BYTES;
    private static final double MAX_IN_FLIGHT = 200;
    private static final int EF_CONSTRUCTION = 20;
    /** Enough queries that the branch predictor cannot learn them. */
    private static final int QUERIES = 1_024;
    /** Number of repetitions of each measurement. */
    private static final int TIMES = 8;

    private static final int SEARCH_WIDTH = 50;
    /** So large that all rows are compared. */
    private static final int EXACT_WIDTH = 300;

    private static final int[] GROUPS = {1, 4};
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private final int[] counts;
    private final double[] latencies;
    private final Consumer<String> progress;
    private final Workload workload = Workload.mixture(ROWS, QUERIES, DIMENSION, 1 + ROWS / 200, 7);

    StallCalibration(double l3Bytes, double wholeL3Bytes, double l3Nanos, double dramNanos, Consumer<String> progress) {
        double tableBytes = (double) ROWS * ROW_BYTES;
        this.counts = new int[] {1, (int) (l3Bytes * .4 / tableBytes), (int) (wholeL3Bytes * 1.8 / tableBytes)};
        this.latencies = new double[] {0, l3Nanos, dramNanos};
        this.progress = progress;
    }

    /**
     * Measures graph searches, and searches that compare all rows.
     *
     * @return the lines in flight of graph searches, then of searches that compare all rows
     */
    List<Parameters.LinesInFlight> graphs() throws Exception {
        double[] graphSearches = new double[counts.length];
        double[] exact = new double[counts.length];
        double visits = 0;
        for (int i = 0; i < counts.length; i++) {
            try (OneWorker worker = new OneWorker()) {
                List<HnswTable> tables = new ArrayList<>();
                for (int table = 0; table < counts[i]; table++) {
                    tables.add(HnswTable.builder()
                            .efConstruction(EF_CONSTRUCTION)
                            .build(worker.orchestrator(), workload.rows()));
                }
                visits = visits(tables.getFirst());
                graphSearches[i] = Double.MAX_VALUE;
                exact[i] = Double.MAX_VALUE;
                for (int time = 0; time < TIMES; time++) {
                    graphSearches[i] = Math.min(graphSearches[i], nanos(worker, tables, SEARCH_WIDTH));
                    exact[i] = Math.min(exact[i], nanos(worker, tables, EXACT_WIDTH));
                }
            }
        }
        double bytes = DIMENSION * Float.BYTES;
        return List.of(
                inFlight(
                        "graph searches",
                        graphSearches,
                        visits * (bytes + TraceRecorder.LINK_BYTES) / Memory.LINE_BYTES),
                inFlight("searches of all rows", exact, ROWS * bytes / Memory.LINE_BYTES));
    }

    private double visits(HnswTable table) throws Exception {
        LongAdder nodes = new LongAdder();
        SearchContext counting = SearchContext.outside((touched, bytes) -> nodes.add(touched));
        SearchFunction<float[], SearchResult> graphSearch = table.searchFunction(SEARCH_WIDTH, SEARCH_WIDTH);
        for (float[] query : workload.queries()) {
            graphSearch.search(query, counting);
        }
        return (double) nodes.sum() / QUERIES;
    }

    private double nanos(OneWorker worker, List<HnswTable> tables, int width) {
        float[][] queries = workload.queries();
        List<SearchFunction<float[], SearchResult>> searches =
                tables.stream().map(table -> table.searchFunction(width, width)).toList();
        int count = searches.size();
        return worker.warmNanos(
                repeat -> searches.get(repeat % count).search(queries[repeat % QUERIES], UNCOUNTED), OneWorker.SEEN);
    }

    /** Measures scans of lists, half of them with one query and half with a group. */
    Parameters.LinesInFlight scans() {
        double[] nanos = new double[counts.length];
        for (int i = 0; i < counts.length; i++) {
            int count = counts[i];
            try (OneWorker worker = new OneWorker()) {
                List<IvfTable> tables = new ArrayList<>();
                for (int table = 0; table < count; table++) {
                    tables.add(IvfTable.builder().nlist(1).build(worker.orchestrator(), workload.rows()));
                }
                for (int group : GROUPS) {
                    nanos[i] += worker.warmNanos(
                                    repeat -> searchTogether(tables.get(repeat % count), repeat, group), OneWorker.SEEN)
                            / GROUPS.length;
                }
            }
        }
        return inFlight("scans", nanos, (double) ROWS * DIMENSION * Float.BYTES / Memory.LINE_BYTES);
    }

    private void searchTogether(IvfTable table, int repeat, int size) {
        List<CompletableFuture<SearchResult>> answers = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            answers.add(table.search(workload.queries()[(repeat * size + i) % QUERIES], 10, 1));
        }
        answers.forEach(CompletableFuture::join);
    }

    private Parameters.LinesInFlight inFlight(String what, double[] nanos, double lines) {
        double[] inFlight = new double[counts.length];
        for (int i = 0; i < counts.length; i++) {
            progress.accept("%s of %d tables in turn: %.1f us".formatted(what, counts[i], nanos[i] / 1e3));
            // The lower bound of the wait per line avoids a division by zero or by noise.
            inFlight[i] = latencies[i] / Math.max(latencies[i] / MAX_IN_FLIGHT, (nanos[i] - nanos[0]) / lines);
        }
        return new Parameters.LinesInFlight(inFlight[1], inFlight[2]);
    }
}
