package io.github.roost.index.disk.stall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class StallLengthsTest {
    private static StallLengths of(long... nanos) {
        StallLengths lengths = new StallLengths();
        for (int i = 0; i < StallLengths.KEPT; i++) {
            lengths.add(nanos[i % nanos.length]);
        }
        return lengths;
    }

    private static long[] drawn(double mean, double deviation) {
        Random random = new Random(7);
        return random.doubles(StallLengths.KEPT, 0, 1)
                .mapToLong(u -> Math.max(1_000, (long) (mean + deviation * (2 * u - 1))))
                .toArray();
    }

    @Test
    void nothingIsKnownOfFewStalls() {
        StallLengths lengths = new StallLengths();
        for (int i = 1; i < StallLengths.ENOUGH; i++) {
            lengths.add(50_000);
            assertThat(lengths.isKnown()).isFalse();
        }
        lengths.add(50_000);
        assertThat(lengths.isKnown()).isTrue();
    }

    @Test
    void stallsThatAreAlikeAreFilledToTheirEndAndTheOverrunBeyond() {
        StallLengths lengths = of(100_000);
        assertThat(lengths.budget(0, 5_000)).isCloseTo(105_000, within(1_500L));
        assertThat(lengths.budget(0, 0)).isCloseTo(100_000, within(2_500L));
        assertThat(lengths.budget(60_000, 5_000)).isCloseTo(45_000, within(1_500L));
    }

    @Test
    void theExpectedOverrunIsThatOfTheStallsThatWereSeen() {
        long[] seen = drawn(80_000, 60_000);
        StallLengths lengths = of(seen);
        for (long work = 10_000; work <= 200_000; work += 10_000) {
            double sum = 0;
            for (long one : seen) {
                sum += Math.max(0, work - one);
            }
            // The kernel widens the density a little.
            assertThat(lengths.expectedOverrun(0, work)).isCloseTo(sum / seen.length, within(2_500.0));
        }
    }

    @Test
    void theExpectedOverrunOfTheRestIsThatOfTheStallsThatAreSoLong() {
        long[] seen = drawn(80_000, 60_000);
        StallLengths lengths = of(seen);
        double sum = 0;
        int count = 0;
        for (long one : seen) {
            if (one > 70_000) {
                sum += Math.max(0, 70_000 + 40_000 - one);
                count++;
            }
        }
        assertThat(lengths.expectedOverrun(70_000, 40_000)).isCloseTo(sum / count, within(3_000.0));
    }

    @Test
    void aBudgetIsTheLongestWorkWhoseExpectedOverrunIsAllowed() {
        StallLengths lengths = of(drawn(80_000, 60_000));
        for (double allowed : new double[] {500, 2_000, 8_000}) {
            for (long elapsed : new long[] {0, 30_000, 90_000}) {
                long budget = lengths.budget(elapsed, allowed);
                assertThat(lengths.expectedOverrun(elapsed, budget)).isLessThanOrEqualTo(allowed);
                assertThat(lengths.expectedOverrun(elapsed, budget + 1_000)).isGreaterThan(allowed);
            }
        }
    }

    @Test
    void aStallLongerThanAnyIsAsGoodAsOver() {
        StallLengths lengths = of(drawn(80_000, 60_000));
        assertThat(lengths.goesOn(0, 10_000)).isGreaterThan(.98);
        assertThat(lengths.goesOn(0, 80_000)).isBetween(.3, .7);
        assertThat(lengths.goesOn(300_000, 1)).isZero();
        assertThat(lengths.budget(300_000, 4_000)).isCloseTo(4_000, within(500L));
    }

    @Test
    void newStallsTakeThePlaceOfOldOnes() {
        StallLengths lengths = of(100_000);
        for (int i = 0; i < StallLengths.KEPT; i++) {
            lengths.add(20_000);
        }
        assertThat(lengths.budget(0, 1_000)).isLessThan(25_000);
    }
}
