package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against a map of the JDK's. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LongMapTest {
    private final AtomicBoolean hasMemory = new AtomicBoolean(true);
    private final LongMap map = new LongMap(length -> {
        if (!hasMemory.get()) {
            throw new OutOfMemoryError("for this test");
        }
        return new long[length];
    });
    private final Map<Long, Long> expected = new HashMap<>();

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 40, 1_000, 50_000})
    void holdsWhatWasPutAndNotWhatWasRemoved(int keys) {
        Random random = new Random(keys);
        // Ordinals, multiples that would fall on few slots, anything, and the ends.
        for (long factor : new long[] {1, 1L << 32, 0x9E3779B97F4A7C15L, Long.MIN_VALUE}) {
            for (int step = 0; step < 4 * keys; step++) {
                long key = random.nextInt(keys) * factor - random.nextInt(2);
                if (random.nextInt(3) > 0) {
                    long value = random.nextLong() >>> 1;
                    map.put(key, value);
                    expected.put(key, value);
                } else {
                    Long was = expected.remove(key);
                    assertThat(map.remove(key)).isEqualTo(was == null ? LongMap.MISSING : was);
                }
            }
            assertSame();
        }
    }

    @Test
    void whereThereIsNoMemoryToGrowNothingChangesAndNothingHangs() {
        for (long key = 0; map.size() < 1_000; key++) {
            put(key, key);
        }
        hasMemory.set(false);
        long next = 1_000;
        for (int failed = 0; failed < 100; next++) {
            long key = next;
            try {
                put(key, key);
            } catch (OutOfMemoryError full) {
                failed++;
                assertThat(map.get(key)).isEqualTo(LongMap.MISSING);
            }
        }
        int size = map.size();
        assertThatThrownBy(() -> map.reserve(1_000_000)).isInstanceOf(OutOfMemoryError.class);
        assertSame();
        map.put(5, 6);
        expected.put(5L, 6L);
        assertThat(map.remove(7)).isEqualTo(7);
        expected.remove(7L);
        // In the place of the one that was removed.
        put(-3, 3);
        assertThat(map.size()).isEqualTo(size);
        assertSame();
        hasMemory.set(true);
        for (long key = 0; key < 10_000; key++) {
            put(key, 2 * key);
        }
        assertSame();
    }

    @Test
    void whatIsReservedNeedsNoMemory() {
        map.reserve(12_345);
        hasMemory.set(false);
        for (long key = 0; key < 12_345; key++) {
            put(key * key, key);
        }
        assertSame();
    }

    @Test
    void moreKeysThanAnArrayHoldsAreRefused() {
        assertThatThrownBy(() -> map.reserve(Integer.MAX_VALUE))
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessage("a map takes at most 357913940 keys, got 2147483647");
        assertThat(map.get(1)).isEqualTo(LongMap.MISSING);
    }

    private void put(long key, long value) {
        map.put(key, value);
        expected.put(key, value);
    }

    private void assertSame() {
        assertThat(map.size()).isEqualTo(expected.size());
        Map<Long, Long> held = new HashMap<>();
        map.forEach(held::put);
        assertThat(held).isEqualTo(expected);
        expected.forEach((key, value) -> assertThat(map.get(key)).isEqualTo(value));
    }
}
