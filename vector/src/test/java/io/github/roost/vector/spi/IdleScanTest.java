package io.github.roost.vector.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class IdleScanTest {
    private static final long MILLI = 1_000_000;

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - MILLI);
    private final AtomicLong ofSearches = new AtomicLong();
    private final AtomicBoolean unwanted = new AtomicBoolean();
    private final IdleScan scan = new IdleScan(clock::get, () -> clock.addAndGet(ofSearches.get()), unwanted::get);

    @Test
    void itGoesOnBesideSearchesThatTakeLessThanTwiceItsTime() {
        ofSearches.set(MILLI);
        for (int piece = 0; piece < 1_000; piece++) {
            clock.addAndGet(MILLI);
            assertThat(scan.isOver()).isFalse();
        }
        assertThat(scan.ownNanos()).isEqualTo(1_000 * MILLI);
    }

    @Test
    void itGivesUpWhenSearchesTakeMostOfTheTimeButSitsABurstOut() {
        ofSearches.set(50 * MILLI);
        assertThat(scan.isOver()).isFalse();
        ofSearches.set(MILLI);
        assertThat(scan.isOver()).isTrue();
        assertThat(scan.ownNanos()).isZero();
    }

    @Test
    void itGivesUpWhenItIsNoLongerWanted() {
        assertThat(scan.isOver()).isFalse();
        unwanted.set(true);
        assertThat(scan.isOver()).isTrue();
    }
}
