package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RecentTimesTest {
    private long now = -5_000_000_000L;
    private final RecentTimes times = new RecentTimes(() -> now);

    @Test
    void percentilesAreOverAllTimesOfTheLastTenSeconds() {
        for (int i = 1; i <= 1_000; i++) {
            times.add(TimeUnit.MILLISECONDS.toNanos(i));
            now += TimeUnit.MILLISECONDS.toNanos(5);
        }

        assertThat(times.millis(50)).isCloseTo(500, within(1.0));
        assertThat(times.millis(99.9)).isCloseTo(999, within(1.0));
    }

    @Test
    void oneTimeIsSeenHoweverLongNothingWasBeforeIt() {
        now += TimeUnit.HOURS.toNanos(3);
        times.add(TimeUnit.MILLISECONDS.toNanos(7));

        assertThat(times.millis(50)).isCloseTo(7, within(.01));
    }

    @Test
    void whatIsOlderThanTenSecondsIsForgotten() {
        times.add(TimeUnit.MILLISECONDS.toNanos(7));
        now += TimeUnit.SECONDS.toNanos(9);
        assertThat(times.millis(50)).isPositive();

        now += TimeUnit.SECONDS.toNanos(1);
        assertThat(times.millis(50)).isZero();
    }
}
