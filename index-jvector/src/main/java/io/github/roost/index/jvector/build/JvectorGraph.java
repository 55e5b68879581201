package io.github.roost.index.jvector.build;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.NodesIterator;
import io.github.jbellis.jvector.graph.OnHeapGraphIndex;
import io.github.roost.index.hnsw.graph.BuiltGraph;
import io.github.roost.index.hnsw.graph.GraphOptions;
import io.github.roost.vector.spi.BuildWork;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ForkJoinPool;

/** A graph built by jvector, with neighbor lists trimmed to their max length. */
record JvectorGraph(OnHeapGraphIndex graph) implements BuiltGraph {
    private static final float NEIGHBOR_OVERFLOW = 1.2f;
    private static final float ALPHA = 1.2f;
    /** Rows inserted per step of batch work. */
    private static final int RUN = 4;
    /** Rows trimmed per step of batch work; trimming takes a thousandth of the time of inserting. */
    private static final int TRIM_RUN = 64;

    static JvectorGraph build(BuildWork work, RowScores scores, GraphOptions options) {
        // Two degrees, the second for all upper layers: with one degree jvector would build a graph without layers.
        GraphIndexBuilder builder = GraphIndexBuilder.builder(
                        scores, scores.dimension(), List.of(2 * options.m(), options.m()))
                .withBeamWidth(options.efConstruction())
                .withNeighborOverflow(NEIGHBOR_OVERFLOW)
                .withAlpha(ALPHA)
                // Neither executor is used: the work that jvector would run on them is done on the workers below.
                .withSimdExecutor(ForkJoinPool.commonPool())
                .withParallelExecutor(ForkJoinPool.commonPool())
                .build();
        work.forEach(scores.size(), RUN, row -> builder.addGraphNode(row, scores.searchProviderFor(row)));
        OnHeapGraphIndex graph = (OnHeapGraphIndex) builder.getGraph();
        // The build lets neighbor lists overflow; this trims them to their max length, keeping the most diverse
        // neighbors.
        work.forEach(scores.size(), TRIM_RUN, graph::enforceDegree);
        return new JvectorGraph(graph);
    }

    @Override
    public int levels() {
        return graph.getMaxLevel();
    }

    @Override
    public int entry() {
        return Objects.requireNonNull(graph.entryNode(), "a graph that was built has an entry node").node;
    }

    @Override
    public int[] rows(int level) {
        NodesIterator nodes = graph.getNodes(level);
        int[] all = new int[nodes.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = nodes.nextInt();
        }
        return all;
    }

    @Override
    public int neighbors(int level, int node, int[] into) {
        NodesIterator neighbors = graph.getNeighborsIterator(level, node);
        int count = neighbors.size();
        for (int i = 0; i < count; i++) {
            into[i] = neighbors.nextInt();
        }
        return count;
    }
}
