package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class YieldTest {
    /** Fails if work that shares its core with threads that compute leaves it as often as where nobody wants it. */
    @ParameterizedTest
    @CsvSource({"0, 50000", "400, 50000", "12500, 50000", "20000, 80000", "4000000, 16000000"})
    void workGoesOnForFourTimesAsLongAsItWasKeptWaiting(long awayNanos, long workNanos) {
        long left = Long.MAX_VALUE - 1_000;
        long back = left + awayNanos;
        assertThat(BatchYield.nextYield(left, back) - back).isEqualTo(workNanos);
    }
}
