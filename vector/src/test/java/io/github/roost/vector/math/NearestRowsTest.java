package io.github.roost.vector.math;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NearestRowsTest {
    @Test
    void idsOfOneDistanceAscendAndTheOthersStay() {
        long[] ids = {7, 9, -3, 4, 1, 0};
        NearestRows.sortTies(ids, new float[] {1, 2, 2, 2, 3, 3}, 5);
        assertThat(ids).containsExactly(7, -3, 4, 9, 1, 0);
    }

    @Test
    void theFirstRowOfEachIdIsKeptAsAMapKeepsIt() {
        Random random = new Random(1);
        for (int trial = 0; trial < 2_000; trial++) {
            int size = random.nextInt(60);
            int limit = random.nextInt(70);
            long[] ids = new long[size];
            float[] distances = new float[size];
            Map<Long, Float> expected = new LinkedHashMap<>();
            for (int i = 0; i < size; i++) {
                // Few ids, some of which share their low or their high bits.
                ids[i] = random.nextInt(20) * (random.nextBoolean() ? 1L : 1L << 40) - 5;
                distances[i] = random.nextFloat();
                if (expected.size() < limit) {
                    expected.putIfAbsent(ids[i], distances[i]);
                }
            }
            int kept = NearestRows.distinct(ids, distances, size, limit);
            assertThat(kept).isEqualTo(expected.size());
            int at = 0;
            for (Map.Entry<Long, Float> row : expected.entrySet()) {
                assertThat(ids[at]).isEqualTo(row.getKey());
                assertThat(distances[at++]).isEqualTo(row.getValue());
            }
        }
    }
}
