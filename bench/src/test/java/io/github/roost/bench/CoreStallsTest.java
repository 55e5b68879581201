package io.github.roost.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.PrimitiveIterator;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class CoreStallsTest {
    @Test
    void onlyLongOnesAreCounted() {
        CoreStalls found = CoreStalls.of(clock(0, 100, 599, 1_099, 3_099, 3_100, 10_000), Duration.ofMillis(10));
        assertThat(found.times()).isEqualTo(3);
        assertThat(found.still()).isEqualTo(Duration.ofNanos((500 + 2_000 + 6_900) * 1_000));
        assertThat(found.counted()).isEqualTo(Duration.ofMillis(10));
        assertThat(found.share()).isEqualTo(.94);
        assertThat(found.perSecond()).isEqualTo(300);
    }

    @Test
    void severalAreAddedUp() {
        CoreStalls still = CoreStalls.of(clock(0, 1_000), Duration.ofMillis(1));
        CoreStalls none = CoreStalls.of(clock(5, 500, 990, 1_005), Duration.ofMillis(1));
        assertThat(none.times()).isZero();
        assertThat(still.plus(none)).isEqualTo(new CoreStalls(Duration.ofMillis(2), Duration.ofMillis(1), 1));
    }

    @Test
    void everyThreadReadsAsLong() throws InterruptedException {
        assertThat(CoreStalls.of(3, Duration.ofMillis(5)).counted()).isGreaterThanOrEqualTo(Duration.ofMillis(15));
    }

    private static LongSupplier clock(long... micros) {
        PrimitiveIterator.OfLong next = Arrays.stream(micros).iterator();
        return () -> next.nextLong() * 1_000;
    }
}
