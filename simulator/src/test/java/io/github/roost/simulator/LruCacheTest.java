package io.github.roost.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LruCacheTest {
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void holdsWhatWasUsedLast(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long capacity = 5_000;
        LruCache cache = new LruCache(capacity);
        Map<Integer, Integer> oracle = new LinkedHashMap<>(16, .75f, true);
        for (int step = 0; step < 50_000; step++) {
            int key = random.nextInt(1 + random.nextInt(300));
            boolean here = cache.touch(key);
            assertThat(here).isEqualTo(oracle.get(key) != null);
            if (!here) {
                int size = 1 + random.nextInt(100);
                cache.insert(key, size);
                oracle.put(key, size);
            }
            while (cache.isOverfull()) {
                Map.Entry<Integer, Integer> oldest =
                        oracle.entrySet().iterator().next();
                assertThat(cache.oldestSize()).isEqualTo(oldest.getValue());
                assertThat(cache.forgetOldest()).isEqualTo(oldest.getKey());
                oracle.remove(oldest.getKey());
            }
            assertThat(oracle.values().stream().mapToLong(size -> size).sum()).isLessThanOrEqualTo(capacity);
        }
    }
}
