package io.github.roost.index.disk.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NearestTest {
    @Test
    void aRowOfTwoNodesIsKeptOnceAndTakesNoPlaceFromOthers() {
        Random random = new Random(1);
        for (int round = 0; round < 200; round++) {
            Nearest nearest = new Nearest(5);
            Map<Long, Float> distances = new TreeMap<>();
            for (int node = 0; node < 40; node++) {
                long id = random.nextInt(20);
                float distance = random.nextFloat();
                nearest.addRow(node, id, distance);
                distances.merge(id, distance, Math::min);
            }
            long[] expected = distances.entrySet().stream()
                    .sorted(Map.Entry.comparingByValue())
                    .limit(5)
                    .mapToLong(Map.Entry::getKey)
                    .toArray();
            assertThat(IntStream.range(0, nearest.size()).mapToLong(nearest::id))
                    .containsExactly(Arrays.stream(expected).boxed().toArray(Long[]::new));
        }
    }
}
