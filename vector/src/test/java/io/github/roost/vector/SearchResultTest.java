package io.github.roost.vector;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SearchResultTest {
    @Test
    void sortedIsByDistanceThenIdAlsoForNegativeAndEqualDistances() {
        Random random = new Random(1);
        for (int round = 0; round < 200; round++) {
            int size = random.nextInt(50);
            long[] ids = random.longs(size).toArray();
            float[] distances = new float[size];
            for (int i = 0; i < size; i++) {
                distances[i] = random.nextInt(-5, 6) / 2f;
            }
            List<Integer> order = IntStream.range(0, size)
                    .boxed()
                    .sorted(Comparator.<Integer>comparingDouble(i -> distances[i])
                            .thenComparingLong(i -> ids[i]))
                    .toList();
            SearchResult sorted = SearchResult.sorted(ids, distances);
            assertThat(sorted.ids())
                    .containsExactly(order.stream().mapToLong(i -> ids[i]).toArray());
            for (int i = 0; i < size; i++) {
                assertThat(sorted.distances()[i]).isEqualTo(distances[order.get(i)]);
            }
        }
    }

    @Test
    void bothZerosAreOneDistance() {
        assertThat(SearchResult.sorted(new long[] {3, 1, 2}, new float[] {-0f, 0f, -0f})
                        .ids())
                .containsExactly(1, 2, 3);
        assertThat(SearchResult.merge(
                                List.of(
                                        new SearchResult(new long[] {1, 3}, new float[] {0f, -0f}),
                                        new SearchResult(new long[] {2}, new float[] {-0f})),
                                3)
                        .ids())
                .containsExactly(1, 2, 3);
    }

    @Test
    void mergedAreTheNearestOfAll() {
        Random random = new Random(2);
        List<SearchResult> parts = new ArrayList<>();
        long[] allIds = new long[60];
        float[] allDistances = new float[60];
        for (int part = 0; part < 3; part++) {
            long[] ids = new long[20];
            float[] distances = new float[20];
            for (int i = 0; i < 20; i++) {
                ids[i] = allIds[20 * part + i] = 20L * part + i;
                distances[i] = allDistances[20 * part + i] = random.nextInt(10);
            }
            parts.add(SearchResult.sorted(ids, distances));
        }
        SearchResult all = SearchResult.sorted(allIds, allDistances);
        for (int k : new int[] {0, 1, 7, 60, 100}) {
            SearchResult merged = SearchResult.merge(parts, k);
            assertThat(merged.size()).isEqualTo(Math.min(k, 60));
            assertThat(merged.ids()).isEqualTo(Arrays.copyOf(all.ids(), merged.size()));
        }
        assertThat(SearchResult.merge(List.of(), 5)).isEqualTo(SearchResult.EMPTY);
    }
}
