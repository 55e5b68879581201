package example;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.jvector.JvectorTable;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Searches a graph that jvector built, with jvector's searcher on Roost's workers. */
public final class JvectorAtHome {
    private static final int ROWS = 2_000;
    private static final int DIMENSION = 32;

    private JvectorAtHome() {}

    public static void main(String[] args) throws IOException {
        float[][] rows = new float[ROWS][DIMENSION];
        List<VectorFloat<?>> list = new ArrayList<>();
        Random random = new Random(7);
        for (float[] row : rows) {
            for (int i = 0; i < DIMENSION; i++) {
                row[i] = (float) random.nextGaussian();
            }
            list.add(VectorizationProvider.getInstance().getVectorTypeSupport().createFloatVector(row));
        }
        // Built as in jvector's documentation.
        var vectors = new ListRandomAccessVectorValues(list, DIMENSION);
        var scores = BuildScoreProvider.randomAccessScoreProvider(vectors, VectorSimilarityFunction.EUCLIDEAN);
        ImmutableGraphIndex graph;
        try (GraphIndexBuilder builder = GraphIndexBuilder.builder(scores, DIMENSION, List.of(32, 16))
                .withBeamWidth(100)
                .withNeighborOverflow(1.2f)
                .withAlpha(1.2f)
                .build()) {
            graph = builder.build(vectors);
        }

        // Graph and vectors are not copied, and stay the program's.
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                JvectorTable table = JvectorTable.builder().name("products").build(orchestrator, graph, vectors)) {
            SearchResult nearest = table.search(rows[97], 3).join();
            System.out.println("nearest to row 97: " + nearest + ", compared with "
                    + nearest.cost().visited() + " of " + table.size() + " rows");
            require(nearest.ids()[0] == 97, "the nearest row must be 97 itself, got " + nearest);

            SearchResult even = table.search(SearchRequest.of(rows[97], 3)
                            .effort(100)
                            .filter(IdFilter.of(id -> id % 2 == 0))
                            .timeout(Duration.ofSeconds(1)))
                    .join();
            System.out.println("nearest even rows: " + even);
            require(even.size() == 3 && even.ids()[0] % 2 == 0, "three even rows must be found, got " + even);
        }
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }
}
