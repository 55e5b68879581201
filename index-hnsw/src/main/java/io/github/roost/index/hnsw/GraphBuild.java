package io.github.roost.index.hnsw;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.OnHeapGraphIndex;
import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

/** Builds one graph on an orchestrator's workers, giving way to searches. Used once. */
final class GraphBuild {
    private static final float NEIGHBOR_OVERFLOW = 1.2f;
    private static final float ALPHA = 1.2f;
    /** Rows inserted before a worker turns to other batch work. */
    private static final int RUN = 4;
    /** Rows whose surplus neighbours are dropped before a worker turns to other batch work: a thousandth of the work. */
    private static final int TRIM_RUN = 64;

    private final Orchestrator orchestrator;
    private final String name;
    private final RowScores scores;
    private final GraphIndexBuilder builder;

    /**
     * @param rows in the space of the graph
     * @param m neighbours a node keeps in an upper layer; twice as many in layer 0
     */
    GraphBuild(Orchestrator orchestrator, String name, Metric metric, float[][] rows, int m, int efConstruction) {
        this.orchestrator = orchestrator;
        this.name = name;
        this.scores = new RowScores(metric == Metric.INNER_PRODUCT ? ofOneNorm(rows) : rows, orchestrator::giveWay);
        // Two degrees, the second for all upper layers: one alone would make a graph without layers.
        this.builder = GraphIndexBuilder.builder(scores, scores.dimension(), List.of(2 * m, m))
                .withBeamWidth(efConstruction)
                .withNeighborOverflow(NEIGHBOR_OVERFLOW)
                .withAlpha(ALPHA)
                // Neither is used: what jvector would run on them is done by trim() on the workers.
                .withSimdExecutor(ForkJoinPool.commonPool())
                .withParallelExecutor(ForkJoinPool.commonPool())
                .build();
    }

    /**
     * Largest inner product becomes smallest L2 distance by one more dimension that brings all rows to one norm and is
     * zero in queries (Bachrach et al., RecSys 2014): inner product itself is no distance, and graphs built on it lose
     * most of their neighbours. A walk over the graph measures the inner product itself, which ranks alike.
     */
    private static float[][] ofOneNorm(float[][] rows) {
        int dimension = rows[0].length;
        double longest =
                Arrays.stream(rows).mapToDouble(GraphSpace::squaredNorm).max().orElse(0);
        return Arrays.stream(rows)
                .map(row -> {
                    float[] longer = Arrays.copyOf(row, dimension + 1);
                    longer[dimension] = (float) Math.sqrt(longest - GraphSpace.squaredNorm(row));
                    return longer;
                })
                .toArray(float[][]::new);
    }

    OnHeapGraphIndex run() {
        orchestrator.runBatch(name + " (build)", runs(RUN), run -> insert(run * RUN));
        OnHeapGraphIndex graph = (OnHeapGraphIndex) builder.getGraph();
        orchestrator.runBatch(name + " (trim)", runs(TRIM_RUN), run -> trim(graph, run * TRIM_RUN));
        return graph;
    }

    private int runs(int length) {
        return (scores.size() + length - 1) / length;
    }

    private void insert(int first) {
        for (int row = first; row < Math.min(first + RUN, scores.size()); row++) {
            builder.addGraphNode(row, scores.searchProviderFor(row));
        }
    }

    /** Brings neighbour lists that the build let grow over their length back to it, the most diverse staying. */
    private void trim(OnHeapGraphIndex graph, int first) {
        for (int row = first; row < Math.min(first + TRIM_RUN, scores.size()); row++) {
            graph.enforceDegree(row);
        }
    }
}
