package io.github.roost.index.hnsw;

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
 * How near rows are to each other, for jvector's builder, which asks with every edge that it thinks about. So each row has
 * its answers in an object that is made once: jvector's own provider makes one each time, a quarter of a build's garbage.
 *
 * <p>A search may run between two distances: the builder holds no lock then, and keeps what it is about in objects of its
 * own. Thread-safe.
 */
final class RowScores implements BuildScoreProvider {
    private static final VectorTypeSupport VECTORS =
            VectorizationProvider.getInstance().getVectorTypeSupport();
    /** Of so many distances of a build, at one it gives way to searches: every few microseconds. */
    private static final int LOOKS_PER_WAY = 16;

    private final Row[] rows;
    private final Runnable giveWay;

    /**
     * @param rows at least one, all of one dimension
     * @param giveWay lets searches run, called every few microseconds
     */
    RowScores(float[][] rows, Runnable giveWay) {
        this.giveWay = giveWay;
        this.rows = new Row[rows.length];
        for (int row = 0; row < rows.length; row++) {
            giveWay.run();
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

    /** One row's nearness to the others. */
    private final class Row implements ScoreFunction.ExactScoreFunction {
        private final int number;
        private final VectorFloat<?> vector;

        /** @param number of the row; of a vector that is none any */
        Row(int number, VectorFloat<?> vector) {
            this.number = number;
            this.vector = vector;
        }

        @Override
        public float similarityTo(int other) {
            // Of both rows: a neighbourhood that is thinned out compares the same few with each other for long.
            if ((number + other) % LOOKS_PER_WAY == 0) {
                giveWay.run();
            }
            return VectorSimilarityFunction.EUCLIDEAN.compare(vector, rows[other].vector);
        }
    }
}
