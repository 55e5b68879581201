package io.github.roost.index.hnsw.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DistinctRowsTest {
    /** From 2^29 rows on, a power of two of four times as many slots is no positive int. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 1_000, 1 << 29, 1 << 30, Integer.MAX_VALUE - 8})
    void everyRowHasASlotUpToTheMostRowsOfATable(int rows) {
        assertThat(DistinctRows.slotsFor(rows)).isGreaterThanOrEqualTo(rows).isGreaterThanOrEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 2_000, Integer.MAX_VALUE - 8})
    void aHashBeginsAtOneOfTheSlots(int slots) {
        Random random = new Random(26);
        for (int i = 0; i < 10_000; i++) {
            assertThat(DistinctRows.slot(random.nextInt(), slots)).isBetween(0, slots - 1);
        }
        assertThat(DistinctRows.slot(-1, slots)).isBetween(0, slots - 1);
    }

    @Test
    void hashesThatDifferInAFewLowOrHighBitsBeginAtDifferentSlots() {
        int slots = DistinctRows.slotsFor(1_000);
        assertThat(IntStream.range(0, 1_000)
                        .map(hash -> DistinctRows.slot(hash, slots))
                        .distinct()
                        .count())
                .isGreaterThan(700);
        assertThat(IntStream.range(0, 1_000)
                        .map(hash -> DistinctRows.slot(hash << 20, slots))
                        .distinct()
                        .count())
                .isGreaterThan(500);
    }
}
