package io.github.roost.core.vector;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Neighbors;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RecallSampleTest {
    @Test
    void theSmallestEffortIsFoundWithinATwentieth() {
        for (int least : new int[] {10, 11, 100, 5_000}) {
            int found = RecallSample.least(10, 100_000, .9, effort -> effort >= least ? .95 : .5);
            assertThat(found).isBetween(least, (int) (least * 1.06));
        }
        assertThat(RecallSample.least(10, 700, .9, effort -> .5)).isEqualTo(700);
        assertThat(RecallSample.least(1, 1, 1, effort -> 0)).isEqualTo(1);
    }

    @Test
    void recallIsTheShareOfTrueNeighboursThatAreFound() {
        float[][] queries =
                IntStream.range(0, 100).mapToObj(query -> new float[] {query}).toArray(float[][]::new);
        // Rows 0 to 999 on a line; a search of so many percent finds those of the ten nearest that come first.
        RecallSample sample = new RecallSample(queries, query -> nearest(query[0], 10));
        assertThat(sample.recall(query -> nearest(query[0], 10))).isEqualTo(1);
        assertThat(sample.recall(query -> nearest(query[0], 7))).isEqualTo(.7);
        assertThat(sample.recall(query -> CompletableFuture.completedFuture(Neighbors.EMPTY)))
                .isZero();
    }

    private static CompletableFuture<Neighbors> nearest(float query, int k) {
        long[] ids = LongStream.range((long) query, (long) query + k).toArray();
        float[] distances = new float[k];
        for (int i = 0; i < k; i++) {
            distances[i] = i;
        }
        return CompletableFuture.completedFuture(new Neighbors(ids, distances));
    }
}
