package io.github.roost.index.jvector;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.util.Bits;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

/** Graphs that jvector builds and searches alone. */
final class Graphs {
    private Graphs() {}

    static VectorFloat<?> vector(float[] values) {
        return VectorizationProvider.getInstance().getVectorTypeSupport().createFloatVector(values);
    }

    static RandomAccessVectorValues vectors(float[][] rows) {
        List<VectorFloat<?>> list =
                Arrays.stream(rows).<VectorFloat<?>>map(Graphs::vector).toList();
        return new ListRandomAccessVectorValues(list, rows[0].length);
    }

    static GraphIndexBuilder builder(RandomAccessVectorValues vectors, VectorSimilarityFunction similarity) {
        return GraphIndexBuilder.builder(
                        BuildScoreProvider.randomAccessScoreProvider(vectors, similarity),
                        vectors.dimension(),
                        List.of(16, 8))
                .withBeamWidth(60)
                .withNeighborOverflow(1.2f)
                .withAlpha(1.2f)
                .withSimdExecutor(ForkJoinPool.commonPool())
                .withParallelExecutor(ForkJoinPool.commonPool())
                .build();
    }

    static ImmutableGraphIndex build(RandomAccessVectorValues vectors, VectorSimilarityFunction similarity)
            throws IOException {
        try (GraphIndexBuilder builder = builder(vectors, similarity)) {
            return builder.build(vectors);
        }
    }

    /** A search as jvector's documentation has it, with its default threshold. */
    static SearchResult search(
            ImmutableGraphIndex graph,
            RandomAccessVectorValues vectors,
            VectorSimilarityFunction similarity,
            float[] query,
            int k,
            int ef,
            Bits accepted)
            throws IOException {
        try (GraphSearcher searcher = new GraphSearcher(graph)) {
            return searcher.search(
                    DefaultSearchScoreProvider.exact(vector(query), similarity, vectors),
                    k,
                    ef,
                    Float.NEGATIVE_INFINITY,
                    0,
                    accepted);
        }
    }
}
