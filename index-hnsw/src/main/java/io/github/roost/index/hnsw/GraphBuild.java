package io.github.roost.index.hnsw;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SubmitOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Builds one graph on an orchestrator's workers: each inserts short runs of rows, one after the other, as batch tasks, so
 * that searches come in between. Used once.
 */
final class GraphBuild {
    private static final float NEIGHBOR_OVERFLOW = 1.2f;
    private static final float ALPHA = 1.2f;
    /** Rows inserted before a worker may turn to something else. */
    private static final int RUN = 32;

    private final Orchestrator orchestrator;
    private final String name;
    private final ListRandomAccessVectorValues vectors;
    private final GraphIndexBuilder builder;
    private final AtomicInteger next = new AtomicInteger();

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
        // One mapping id a worker, so that the build spreads over the domains.
        try (Registration spread = orchestrator.register(name + " (build)", orchestrator.workers())) {
            List<CompletableFuture<Void>> inserters = new ArrayList<>();
            for (int worker = 0; worker < spread.clusters(); worker++) {
                inserters.add(insertFrom(spread, worker));
            }
            inserters.forEach(CompletableFuture::join);
        }
        builder.cleanup();
        return builder.getGraph();
    }

    /** Inserts a run of rows, then queues up again behind what came meanwhile, until none is left. */
    private CompletableFuture<Void> insertFrom(Registration spread, int worker) {
        return orchestrator
                .submit(
                        (first, context) -> {
                            insert(first);
                            return first + RUN < vectors.size();
                        },
                        next.getAndAdd(RUN),
                        spread.id(worker),
                        SubmitOptions.BATCH)
                .thenCompose(more -> more ? insertFrom(spread, worker) : CompletableFuture.<Void>completedFuture(null));
    }

    private void insert(int first) {
        for (int row = first; row < Math.min(first + RUN, vectors.size()); row++) {
            builder.addGraphNode(row, vectors.getVector(row));
        }
    }
}
