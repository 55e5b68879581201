package io.github.roost.index.hnsw;

import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.SearchContext;
import io.github.roost.index.hnsw.IdFilter.AllowedRows;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntToDoubleFunction;

/** Sample queries with their true neighbours, to measure what a width of the search finds. Used by one thread. */
final class RecallSample {
    /** The searches of a sample are no traffic of the table. */
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    /** The widest search that there is. */
    static final int MOST_WIDTH = 100_000;
    /** A width that is found is at most this share wider than the narrowest that reaches the target. */
    private static final double PRECISION = .05;

    private final Orchestrator orchestrator;
    private final String name;
    private final FrozenGraph graph;
    private final float[][] queries;
    private final int k;
    /** Distance of the k-th true neighbour of each query: what is no farther is found rightly. */
    private final float[] reach;

    /** Finds the true neighbours on the workers, as batch work. The arguments have been checked. */
    RecallSample(Orchestrator orchestrator, String name, FrozenGraph graph, float[][] queries, int k) {
        this.orchestrator = orchestrator;
        this.name = name;
        this.graph = graph;
        this.queries = queries;
        this.k = Math.min(k, graph.rows());
        this.reach = new float[queries.length];
        orchestrator.runBatch(name + " (sample)", queries.length, query -> {
            Neighbors truth = graph.scan(
                    queries[query],
                    this.k,
                    AllowedRows.ALL,
                    AllowedRows.ALL,
                    0,
                    graph.image().shape().nodes(),
                    UNCOUNTED);
            reach[query] = truth.distances()[this.k - 1];
        });
    }

    /** Share of true neighbours that searches of a width find, from 0 to 1. */
    double recall(int ef) {
        LongAdder hits = new LongAdder();
        orchestrator.runBatch(name + " (sample)", queries.length, query -> {
            Neighbors found = graph.search(queries[query], k, ef, AllowedRows.ALL, AllowedRows.ALL, UNCOUNTED);
            for (float distance : found.distances()) {
                if (distance <= reach[query]) {
                    hits.increment();
                }
            }
        });
        return hits.sum() / ((double) k * queries.length);
    }

    /**
     * The narrowest width that reaches a recall, nearly: doubled until it does, then narrowed down.
     *
     * @param least width to begin with
     * @param recall of a width; grows with it
     * @return {@link #MOST_WIDTH} if that does not reach it either
     */
    static int narrowest(int least, double target, IntToDoubleFunction recall) {
        int tooNarrow = least - 1;
        int wide = least;
        while (wide < MOST_WIDTH && recall.applyAsDouble(wide) < target) {
            tooNarrow = wide;
            wide = Math.min(2 * wide, MOST_WIDTH);
        }
        while (wide - tooNarrow > Math.max(1, PRECISION * wide)) {
            int middle = (tooNarrow + wide) >>> 1;
            if (recall.applyAsDouble(middle) < target) {
                tooNarrow = middle;
            } else {
                wide = middle;
            }
        }
        return wide;
    }

    int narrowest(double target) {
        return narrowest(k, target, this::recall);
    }
}
