package io.github.roost.vector.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.RejectedSearchException;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RecallSampleTest {
    @Test
    void theSmallestEffortIsFoundWithinATwentieth() {
        for (int min : new int[] {10, 11, 100, 5_000}) {
            int found = RecallSample.min(10, 100_000, .9, effort -> effort >= min ? .95 : .5);
            assertThat(found).isBetween(min, (int) (min * 1.06));
        }
        assertThat(RecallSample.min(10, 700, .9, effort -> .5)).isEqualTo(700);
        assertThat(RecallSample.min(1, 1, 1, effort -> 0)).isEqualTo(1);
    }

    @Test
    void recallIsTheShareOfTrueNeighborsThatAreFound() {
        float[][] queries =
                IntStream.range(0, 100).mapToObj(query -> new float[] {query}).toArray(float[][]::new);
        // Rows 0 to 999 on a line; a search of so many percent finds those of the ten nearest that come first.
        RecallSample sample = new RecallSample(queries, query -> nearest(query[0], 10));
        assertThat(sample.recall(query -> nearest(query[0], 10))).isEqualTo(1);
        assertThat(sample.recall(query -> nearest(query[0], 7))).isEqualTo(.7);
        assertThat(sample.recall(query -> CompletableFuture.completedFuture(SearchResult.EMPTY)))
                .isZero();
    }

    @Test
    void searchesThatFindNoRoomAreAskedAgainWhenOthersAreDone() {
        float[][] queries =
                IntStream.range(0, 100).mapToObj(query -> new float[] {query}).toArray(float[][]::new);
        RecallSample sample = new RecallSample(queries, query -> nearest(query[0], 10));
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger rejected = new AtomicInteger();
        CountDownLatch full = new CountDownLatch(1);
        try (ExecutorService worker = Executors.newSingleThreadExecutor()) {
            double recall = sample.recall(query -> {
                if (underWay.get() == 3) {
                    full.countDown();
                    RejectedSearchException rejection = new RejectedSearchException("a search", 0, 3);
                    if (rejected.incrementAndGet() % 2 == 0) {
                        throw rejection;
                    }
                    return CompletableFuture.failedFuture(rejection);
                }
                underWay.incrementAndGet();
                return CompletableFuture.supplyAsync(
                        () -> {
                            awaitFull(full);
                            underWay.decrementAndGet();
                            return nearest(query[0], 7).join();
                        },
                        worker);
            });
            assertThat(recall).isEqualTo(.7);
            assertThat(rejected.get()).isPositive();
        }
    }

    private static void awaitFull(CountDownLatch full) {
        try {
            full.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aSearchThatIsRejectedAloneEndsTheMeasurement() {
        RecallSample sample = new RecallSample(new float[][] {{1}}, query -> nearest(query[0], 10));
        RejectedSearchException rejection = new RejectedSearchException("a search", 0, 3);
        assertThatThrownBy(() -> sample.recall(query -> CompletableFuture.failedFuture(rejection)))
                .hasCause(rejection);
    }

    @Test
    void rowsAsQueriesFindThemselvesSoTheTargetIsRaisedByOneCertainHit() {
        List<String> requested = new ArrayList<>();
        RecallSample.Measure measure = (target, k) -> {
            requested.add(target + " of " + k);
            return 7;
        };
        assertThat(RecallSample.effortByOwnRows(.5, 9, 1_000, measure)).isEqualTo(7);
        RecallSample.effortByOwnRows(.5, 9, 5, measure);
        RecallSample.effortByOwnRows(1, 10_000, 50_000, measure);
        RecallSample.effortByOwnRows(.5, 9, 0, measure);
        assertThat(requested).containsExactly("0.55 of 10", "0.6 of 5", "1.0 of 10000", "1.0 of 1");
    }

    @Test
    void aVectorIsScaledToLengthOneAndNotChanged() {
        float[] vector = {3, 0, -4};
        assertThat(Vectors.normalized(vector)).containsExactly(.6f, 0, -.8f);
        assertThat(vector).containsExactly(3, 0, -4);
        // Squares of such components are out of the range of float.
        assertThat(Vectors.normalized(new float[] {1e30f, 0})).containsExactly(1, 0);
    }

    private static CompletableFuture<SearchResult> nearest(float query, int k) {
        long[] ids = LongStream.range((long) query, (long) query + k).toArray();
        float[] distances = new float[k];
        for (int i = 0; i < k; i++) {
            distances[i] = i;
        }
        return CompletableFuture.completedFuture(new SearchResult(ids, distances));
    }
}
