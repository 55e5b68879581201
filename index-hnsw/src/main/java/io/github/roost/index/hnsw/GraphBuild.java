package io.github.roost.index.hnsw;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.roost.core.Orchestrator;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

/** Builds one graph on an orchestrator's workers, in short runs of rows, so that searches come in between. Used once. */
final class GraphBuild {
    private static final float NEIGHBOR_OVERFLOW = 1.2f;
    private static final float ALPHA = 1.2f;
    /** Rows inserted before a worker may turn to something else. */
    private static final int RUN = 4;

    private final Orchestrator orchestrator;
    private final String name;
    private final ListRandomAccessVectorValues vectors;
    private final GraphIndexBuilder builder;

    GraphBuild(
            Orchestrator orchestrator,
            String name,
            ListRandomAccessVectorValues vectors,
            VectorSimilarityFunction similarity,
            int m,
            int efConstruction) {
        this.orchestrator = orchestrator;
        this.name = name;
        this.vectors = vectors;
        // Two degrees, the second for all upper layers: one alone would make a graph without layers.
        this.builder = GraphIndexBuilder.builder(
                        BuildScoreProvider.randomAccessScoreProvider(vectors, similarity),
                        vectors.dimension(),
                        List.of(m, m))
                .withBeamWidth(efConstruction)
                .withNeighborOverflow(NEIGHBOR_OVERFLOW)
                .withAlpha(ALPHA)
                .withSimdExecutor(ForkJoinPool.commonPool())
                .withParallelExecutor(ForkJoinPool.commonPool())
                .build();
    }

    ImmutableGraphIndex run() {
        orchestrator.runBatch(name + " (build)", (vectors.size() + RUN - 1) / RUN, run -> insert(run * RUN));
        builder.cleanup();
        return builder.getGraph();
    }

    private void insert(int first) {
        for (int row = first; row < Math.min(first + RUN, vectors.size()); row++) {
            builder.addGraphNode(row, vectors.getVector(row));
        }
    }
}
