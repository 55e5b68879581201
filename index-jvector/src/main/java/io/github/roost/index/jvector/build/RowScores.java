package io.github.roost.index.jvector.build;

import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.graph.similarity.ScoreFunction;
import io.github.jbellis.jvector.graph.similarity.SearchScoreProvider;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorUtil;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;

/**
 * The similarity of rows to each other, for jvector's builder, which needs it for every candidate edge. Each row's score function is
 * allocated once; jvector's own provider allocates one per call, which is a quarter of the garbage of a build.
 *
 * <p>Other searches may run on the thread between two distances: the builder then holds no lock, and its state is in objects of its
 * own. Thread-safe.
 */
final class RowScores implements BuildScoreProvider {
    private static final VectorTypeSupport VECTORS =
            VectorizationProvider.getInstance().getVectorTypeSupport();
    /** A build yields to searches once per this many distances: every few microseconds. */
    private static final int DISTANCES_PER_YIELD = 16;

    private final Row[] rows;
    private final Runnable yieldToSearches;

    /**
     * @param rows at least one, all of one dimension
     * @param yieldToSearches yields to searches; called every few microseconds
     */
    RowScores(float[][] rows, Runnable yieldToSearches) {
        this.yieldToSearches = yieldToSearches;
        this.rows = new Row[rows.length];
        for (int row = 0; row < rows.length; row++) {
            yieldToSearches.run();
            this.rows[row] = new Row(row, VECTORS.createFloatVector(rows[row]));
        }
    }

    int size() {
        return rows.length;
    }

    int dimension() {
        return rows[0].vector.length();
    }

    @Override
    public SearchScoreProvider searchProviderFor(int row) {
        return new DefaultSearchScoreProvider(rows[row]);
    }

    @Override
    public SearchScoreProvider searchProviderFor(VectorFloat<?> vector) {
        return new DefaultSearchScoreProvider(new Row(0, vector));
    }

    @Override
    public SearchScoreProvider diversityProviderFor(int row) {
        return searchProviderFor(row);
    }

    @Override
    public ScoreFunction diversityScoreFunctionFor(int row) {
        return rows[row];
    }

    @Override
    public boolean isExact() {
        return true;
    }

    @Override
    public VectorFloat<?> approximateCentroid() {
        VectorFloat<?> mean = VECTORS.createFloatVector(dimension());
        for (Row row : rows) {
            VectorUtil.addInPlace(mean, row.vector);
        }
        VectorUtil.scale(mean, 1f / rows.length);
        return mean;
    }

    /** The score function of one row. */
    private final class Row implements ScoreFunction.ExactScoreFunction {
        private final int number;
        private final VectorFloat<?> vector;

        /** @param number the row's number; arbitrary for a vector that is not a row */
        Row(int number, VectorFloat<?> vector) {
            this.number = number;
            this.vector = vector;
        }

        @Override
        public float similarityTo(int other) {
            // Depends on both rows: pruning a neighbor list compares the same few rows with each other for a long
            // time.
            if ((number + other) % DISTANCES_PER_YIELD == 0) {
                yieldToSearches.run();
            }
            return VectorSimilarityFunction.EUCLIDEAN.compare(vector, rows[other].vector);
        }
    }
}
