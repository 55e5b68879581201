package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchesTest {
    @ParameterizedTest
    @CsvSource({
        // As many as keep the free workers busy, but no more than there are lists.
        "16, 1000, 1, 4",
        "16, 1000, 3, 12",
        "16, 1000, 8, 16",
        "1, 1000, 2, 1",
        "0, 1000, 2, 0",
        "3, 0, 1, 3",
        // Lists of an eighth of what fills a task.
        "128, 32768, 1, 16",
        "129, 32768, 1, 17",
        "128, 32768, 8, 32",
        // Each list fills more than one.
        "7, 1000000000000, 1, 7",
    })
    void listsAreDividedEvenlyAndInOrder(int lists, long bytesEach, int free, int expected) {
        int[] numbers = IntStream.range(0, lists).map(i -> 3 * i).toArray();
        List<int[]> batches = Batches.of(numbers, bytesEach, free);
        assertThat(batches).hasSize(expected);
        assertThat(batches.stream().flatMapToInt(Arrays::stream).toArray()).isEqualTo(numbers);
        assertThat(batches)
                .allSatisfy(batch -> assertThat(batch).hasSizeBetween(lists / expected, Math.ceilDiv(lists, expected)));
    }
}
