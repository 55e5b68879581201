package io.github.roost.index.disk.build;

import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.graph.similarity.ScoreFunction;
import io.github.jbellis.jvector.graph.similarity.SearchScoreProvider;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorUtil;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import java.util.function.Supplier;

/**
 * Scores of rows for a build by jvector: one through the squared distance, so that its prune compares ratios of distances in any unit. Its own
 * score, one through one plus the squared distance, hardly differs among rows that are much nearer to each other than one. Thread-safe.
 */
final class RowScores implements BuildScoreProvider {
    /** So that no score is infinite. */
    private static final float NEAREST = 1e-37f;

    private final RandomAccessVectorValues rows;
    private final Supplier<RandomAccessVectorValues> views;

    /** @param rows a view of the rows, of which each thread gets a copy */
    RowScores(RandomAccessVectorValues rows) {
        this.rows = rows;
        this.views = rows.threadLocalSupplier();
    }

    @Override
    public boolean isExact() {
        return true;
    }

    @Override
    public VectorFloat<?> approximateCentroid() {
        return BuildScoreProvider.randomAccessScoreProvider(rows, VectorSimilarityFunction.EUCLIDEAN)
                .approximateCentroid();
    }

    @Override
    public SearchScoreProvider searchProviderFor(VectorFloat<?> vector) {
        RandomAccessVectorValues view = views.get();
        return new DefaultSearchScoreProvider((ScoreFunction.ExactScoreFunction)
                row -> 1 / Math.max(NEAREST, VectorUtil.squareL2Distance(vector, view.getVector(row))));
    }

    @Override
    public SearchScoreProvider searchProviderFor(int row) {
        return searchProviderFor(views.get().getVector(row).copy());
    }

    @Override
    public SearchScoreProvider diversityProviderFor(int row) {
        return searchProviderFor(row);
    }
}
