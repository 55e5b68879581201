package io.github.roost.index.ivf.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScoredRowsTest {
    private static final float CERTAIN = -0x1p127f;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 15, 16, 17, 300, 2_048, 2_049})
    void everyKernelKeepsTheBestInTheirOrder(int size) {
        Random random = new Random(size);
        for (int trial = 0; trial < 60; trial++) {
            float[] scores = new float[size + random.nextInt(3)];
            long[] places = random.longs(scores.length).toArray();
            for (int i = 0; i < scores.length; i++) {
                scores[i] = trial % 2 == 0 ? (float) random.nextGaussian() : random.nextInt(1 + size / 3) - 2;
            }
            int wanted = 1 + random.nextInt(size);
            float[] sorted = Arrays.copyOf(scores, size);
            Arrays.sort(sorted);
            float last = sorted[wanted - 1];
            int[] best = IntStream.range(0, size).filter(i -> scores[i] <= last).toArray();
            for (ScanKernel kernel : ScanKernels.available()) {
                ScoredRows kept = rows(scores, places, size);
                float bound = kernel.bound(kept, Float.NaN, wanted);
                assertThat(bound).as(kernel.name()).isGreaterThanOrEqualTo(last);
                kernel.keepUpTo(kept, bound);
                assertThat(kept.size()).isEqualTo(best.length);
                for (int i = 0; i < kept.size(); i++) {
                    assertThat(kept.score(i)).isEqualTo(scores[best[i]]);
                    assertThat(kept.place(i)).isEqualTo(places[best[i]]);
                }
                assertThat(Arrays.copyOfRange(kept.places, size, places.length))
                        .isEqualTo(Arrays.copyOfRange(places, size, places.length));
            }
        }
    }

    @Test
    void ofTooFewRowsThereIsNoBound() {
        for (ScanKernel kernel : ScanKernels.available()) {
            ScoredRows rows = rows(new float[8], new long[8], 4);
            assertThat(kernel.bound(rows, Float.NaN, 4)).isZero();
            assertThat(kernel.bound(rows, Float.NaN, 5)).isEqualTo(Float.POSITIVE_INFINITY);
            assertThat(kernel.bound(rows, Float.NaN, Integer.MAX_VALUE)).isEqualTo(Float.POSITIVE_INFINITY);
            assertThatThrownBy(() -> kernel.bound(rows, Float.NaN, 0))
                    .hasMessage("the number of rows wanted must be at least 1, got 0");
        }
    }

    @Test
    void rowsThatAreCertainTakeThePlaceOfNone() {
        float certain = -Float.MAX_VALUE;
        float[] scores = {0f, certain, 1e38f, -0f, CERTAIN, 1e-40f, -1e38f, 0f, certain, 3f};
        for (ScanKernel kernel : ScanKernels.available()) {
            for (int wanted = 1; wanted <= 7; wanted++) {
                ScoredRows rows = rows(scores, new long[scores.length], scores.length);
                kernel.keepUpTo(rows, kernel.bound(rows, CERTAIN, wanted));
                int zeros = wanted == 2 || wanted == 3 ? 4 : wanted;
                assertThat(rows.size()).as("%s, %d", kernel.name(), wanted).isEqualTo(3 + zeros);
            }
            ScoredRows rows = rows(scores, new long[scores.length], scores.length);
            assertThat(kernel.bound(rows, CERTAIN, 8)).isEqualTo(Float.POSITIVE_INFINITY);
        }
    }

    @Test
    void memoryThatGrewIsWhatKernelsSee() {
        for (ScanKernel kernel : ScanKernels.available()) {
            ScoredRows all = rows(new float[] {3, 1, 2}, new long[] {30, 10, 20}, 3);
            kernel.keepUpTo(all, 2);
            all.addAll(rows(new float[] {0, 5}, new long[] {7, 8}, 2), 100);
            kernel.keepUpTo(all, kernel.bound(all, Float.NaN, 2));
            assertThat(Arrays.copyOf(all.places, all.size())).containsExactly(10, 107);
            all.clear();
            assertThat(all.size()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 17, 100, 255, 256, 257, 2_048, 2_049})
    void everyKernelOrdersTheNearest(int count) {
        Random random = new Random(count);
        for (int trial = 0; trial < 40; trial++) {
            float[] distances = new float[count + random.nextInt(3)];
            for (int i = 0; i < distances.length; i++) {
                distances[i] = switch (trial % 4) {
                    case 0 -> (float) random.nextGaussian();
                    case 1 -> random.nextInt(1 + count / 3) - 2;
                    case 2 -> random.nextInt(3) == 0 ? Float.POSITIVE_INFINITY : random.nextFloat();
                    default -> 7;
                };
            }
            int wanted = 1 + random.nextInt(count + 2);
            int[] sorted = IntStream.range(0, count)
                    .boxed()
                    // As numbers: the two zeros are one. Ties stay in the order of their numbers.
                    .sorted(Comparator.comparingDouble(i -> distances[i] + 0f))
                    .mapToInt(i -> i)
                    .toArray();
            for (ScanKernel kernel : ScanKernels.available()) {
                int[] order = new int[count];
                int ordered = kernel.order(distances, count, wanted, order);
                assertThat(ordered).as(kernel.name()).isGreaterThanOrEqualTo(Math.min(wanted, count));
                assertThat(Arrays.copyOf(order, ordered))
                        .as("%s: %d of %s", kernel.name(), wanted, Arrays.toString(distances))
                        .isEqualTo(Arrays.copyOf(sorted, ordered));
                if (ordered < count) {
                    assertThat(distances[sorted[ordered]]).isGreaterThan(distances[sorted[ordered - 1]]);
                }
            }
        }
    }

    @Test
    void arraysWithoutRoomAreRefused() {
        for (ScanKernel kernel : ScanKernels.available()) {
            assertThatThrownBy(() -> kernel.order(new float[3], 4, 1, new int[4]))
                    .hasMessage("cannot order the 1 nearest of 4 rows of 3 distances in room for 4");
            assertThatThrownBy(() -> kernel.order(new float[4], 4, 1, new int[3]))
                    .hasMessage("cannot order the 1 nearest of 4 rows of 4 distances in room for 3");
            assertThatThrownBy(() -> kernel.order(new float[4], 4, 0, new int[4]))
                    .hasMessage("cannot order the 0 nearest of 4 rows of 4 distances in room for 4");
        }
    }

    @Test
    void whatIsNotWantedIsDropped() {
        ScoredRows rows = rows(new float[] {1, 2, 3, 4, 5}, new long[] {1, 2, 3, 4, 5}, 5);
        rows.keepIf(1, i -> i % 2 == 0);
        assertThat(Arrays.copyOf(rows.places, rows.size())).containsExactly(1, 3, 5);
    }

    private static ScoredRows rows(float[] scores, long[] places, int size) {
        ScoredRows rows = new ScoredRows();
        rows.scores = scores.clone();
        rows.places = places.clone();
        rows.size = size;
        return rows;
    }
}
