package io.github.roost.bench;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

/** Vectors as jvector takes them, builds of its graphs as in its examples, and what it finds. */
public final class JvectorVectors {
    private static final float NEIGHBOR_OVERFLOW = 1.2f;
    private static final float ALPHA = 1.2f;

    private JvectorVectors() {}

    /** A builder of a graph of rows that runs in a pool. */
    public static GraphIndexBuilder builder(
            RandomAccessVectorValues rows,
            VectorSimilarityFunction similarity,
            List<Integer> degrees,
            int width,
            ForkJoinPool pool) {
        return GraphIndexBuilder.builder(
                        BuildScoreProvider.randomAccessScoreProvider(rows, similarity), rows.dimension(), degrees)
                .withBeamWidth(width)
                .withNeighborOverflow(NEIGHBOR_OVERFLOW)
                .withAlpha(ALPHA)
                .withSimdExecutor(pool)
                .withParallelExecutor(pool)
                .build();
    }

    /** The rows of a result, nearest first. */
    public static int[] rows(SearchResult found) {
        return Arrays.stream(found.getNodes()).mapToInt(node -> node.node).toArray();
    }

    /** Copies vectors into jvector's form, in order. */
    public static List<VectorFloat<?>> of(float[][] values) {
        return Arrays.stream(values)
                .<VectorFloat<?>>map(VectorizationProvider.getInstance().getVectorTypeSupport()::createFloatVector)
                .toList();
    }
}
