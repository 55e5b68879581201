package io.github.roost.bench.remote;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.spi.BuildWork;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Question: what does a query of a partition cost by a graph search, and by a scan of its rows for several queries at once? On one thread; whether
 * the rows are in a cache is not controlled.
 *
 * @param rows of the partition
 * @param graphSearchMicros per query, with an ef of 64 or k if that is larger
 * @param scans one per group size
 */
public record PartitionCosts(int rows, double graphSearchMicros, List<Scan> scans) {
    private static final int[] GROUPS = {1, 4, 16, 64, 256};
    private static final int EF = 64;
    private static final int QUERIES = 256;
    private static final int PASSES = 5;
    private static final SearchContext OUTSIDE = SearchContext.outside((nodes, bytes) -> {});

    /**
     * A scan for a group of queries.
     *
     * @param queries in the group
     * @param micros per query
     */
    public record Scan(int queries, double micros) {}

    /** Measures the costs: the min of several passes, since other processes can only add to the time, and the first pass warms up. */
    static PartitionCosts measure(Orchestrator orchestrator, float[][] rows, float[][] queries, int k) {
        Graph graph = Graph.build(
                new BuildWork(orchestrator, "partition"),
                Metric.SQUARED_L2,
                16,
                120,
                LongStream.range(0, rows.length).toArray(),
                VectorSource.of(rows));
        List<float[]> requested = List.of(Arrays.copyOf(queries, Math.min(QUERIES, queries.length)));
        double graphSearch = fastest(
                requested.size(),
                () -> requested.forEach(query -> graph.search(
                        query, k, Math.max(EF, k), IdFilter.all(), IdFilter.all(), Long.MAX_VALUE, OUTSIDE)));
        List<Scan> scans = new ArrayList<>();
        for (int group : GROUPS) {
            scans.add(new Scan(group, fastest(requested.size(), () -> {
                for (int from = 0; from < requested.size(); from += group) {
                    graph.scanTogether(
                            requested.subList(from, Math.min(requested.size(), from + group)),
                            k,
                            IdFilter.all(),
                            IdFilter.all(),
                            OUTSIDE);
                }
            })));
        }
        return new PartitionCosts(rows.length, graphSearch, scans);
    }

    private static double fastest(int queries, Runnable pass) {
        double min = Double.POSITIVE_INFINITY;
        for (int i = 0; i < PASSES; i++) {
            long began = System.nanoTime();
            pass.run();
            min = Math.min(min, (System.nanoTime() - began) / 1e3 / queries);
        }
        return min;
    }
}
