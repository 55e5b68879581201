package io.github.roost.simulator.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class IntervalTest {
    @Test
    void agreesWithATextbookExample() {
        // Five values of mean 10 and standard deviation 1.58; t is 2.776.
        Interval interval = Interval.of(List.of(8.0, 9.0, 10.0, 11.0, 12.0));
        assertThat(interval.mean()).isEqualTo(10);
        assertThat(interval.halfWidth()).isCloseTo(1.963, within(.001));
        assertThat(interval.contains(8.1)).isTrue();
        assertThat(interval.contains(12.1)).isFalse();
    }

    @Test
    void oneMeasurementTellsNothing() {
        assertThat(Interval.of(List.of(3.0)).contains(1e9)).isTrue();
    }

    @Test
    void holdsTheTrueMeanAboutNineteenTimesInTwenty() {
        Random random = new Random(5);
        int rounds = 4_000;
        int held = 0;
        for (int round = 0; round < rounds; round++) {
            held += Interval.of(IntStream.range(0, 6)
                                    .mapToObj(i -> random.nextGaussian())
                                    .toList())
                            .contains(0)
                    ? 1
                    : 0;
        }
        assertThat((double) held / rounds).isCloseTo(.95, within(.015));
    }
}
