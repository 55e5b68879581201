package io.github.roost.index.jvector.build;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.graph.similarity.BuildScoreProvider;
import io.github.jbellis.jvector.graph.similarity.ScoreFunction;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RowScoresTest {
    private static final float[][] ROWS = gaussian(64, 7, new Random(3));
    private final AtomicInteger ways = new AtomicInteger();
    private final RowScores scores = new RowScores(ROWS, ways::incrementAndGet);

    @Test
    void rowsAreAsNearAsJvectorSays() {
        BuildScoreProvider jvector =
                BuildScoreProvider.randomAccessScoreProvider(jvectorValues(), VectorSimilarityFunction.EUCLIDEAN);
        for (int row = 0; row < ROWS.length; row++) {
            ScoreFunction search = scores.searchProviderFor(row).exactScoreFunction();
            ScoreFunction expected = jvector.searchProviderFor(row).exactScoreFunction();
            for (int other = 0; other < ROWS.length; other++) {
                float score = expected.similarityTo(other);
                // The lanes of a sum are added in an order of the JVM's own, which changes when a method is compiled.
                assertThat(search.similarityTo(other)).isCloseTo(score, withinPercentage(1e-4));
                assertThat(scores.diversityScoreFunctionFor(row).similarityTo(other))
                        .isCloseTo(score, withinPercentage(1e-4));
            }
        }
        assertThat(scores.approximateCentroid()).isEqualTo(jvector.approximateCentroid());
    }

    private static RandomAccessVectorValues jvectorValues() {
        return new ListRandomAccessVectorValues(
                Arrays.stream(ROWS)
                        .<VectorFloat<?>>map(
                                VectorizationProvider.getInstance().getVectorTypeSupport()::createFloatVector)
                        .toList(),
                ROWS[0].length);
    }

    @Test
    void oneOf16DistancesYields() {
        ways.set(0);
        ScoreFunction of5 = scores.diversityScoreFunctionFor(5);
        for (int other = 0; other < ROWS.length; other++) {
            of5.similarityTo(other);
        }
        assertThat(ways).hasValue(ROWS.length / 16);
    }

    @Test
    void aFewRowsThatAreComparedWithEachOtherYieldToo() {
        ways.set(0);
        for (int row = 17; row < 32; row++) {
            for (int other = 17; other < 32; other++) {
                scores.diversityScoreFunctionFor(row).similarityTo(other);
            }
        }
        assertThat(ways).hasValue(15);
    }
}
