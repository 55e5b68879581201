package io.github.roost.bench.jvector;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult.NodeScore;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.util.Bits;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.roost.bench.JvectorVectors;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** A graph built by jvector, and searched by jvector alone: with one searcher per thread, as its documentation has it. Thread-safe. */
final class Graph {
    private static final int M = 16;
    private static final int BEAM_WIDTH = 100;
    private static final float NEIGHBOR_OVERFLOW = 1.2f;
    private static final float ALPHA = 1.2f;
    private static final VectorSimilarityFunction SIMILARITY = VectorSimilarityFunction.EUCLIDEAN;

    final ImmutableGraphIndex index;
    final ListRandomAccessVectorValues vectors;
    private final ThreadLocal<GraphSearcher> searchers;

    Graph(float[][] rows) throws IOException {
        int dimension = rows[0].length;
        this.vectors = new ListRandomAccessVectorValues(JvectorVectors.of(rows), dimension);
        try (GraphIndexBuilder builder = GraphIndexBuilder.builder(
                        BuildScoreProvider.randomAccessScoreProvider(vectors, SIMILARITY), dimension, List.of(2 * M, M))
                .withBeamWidth(BEAM_WIDTH)
                .withNeighborOverflow(NEIGHBOR_OVERFLOW)
                .withAlpha(ALPHA)
                .build()) {
            this.index = builder.build(vectors);
        }
        this.searchers = ThreadLocal.withInitial(() -> new GraphSearcher(index));
    }

    /** The ordinals of the nearest rows, nearest first. */
    long[] search(float[] query, int k, int ef) {
        NodeScore[] nodes = searchers
                .get()
                .search(
                        DefaultSearchScoreProvider.exact(
                                VectorizationProvider.getInstance()
                                        .getVectorTypeSupport()
                                        .createFloatVector(query),
                                SIMILARITY,
                                vectors),
                        k,
                        ef,
                        Float.NEGATIVE_INFINITY,
                        0,
                        Bits.ALL)
                .getNodes();
        return Arrays.stream(nodes).mapToLong(node -> node.node).toArray();
    }
}
