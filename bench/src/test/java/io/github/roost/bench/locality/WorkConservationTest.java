package io.github.roost.bench.locality;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.bench.locality.WorkConservation.Before;
import io.github.roost.bench.locality.WorkConservation.Flood;
import io.github.roost.bench.locality.WorkConservation.Staying;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkConservationTest {
    private static final Duration MILLI = Duration.ofMillis(1);

    private final WorkConservation bench = new WorkConservation(new MadeUpMachine(2, 2));

    @ParameterizedTest
    @EnumSource
    void aFloodIsCounted(Before before) throws Exception {
        Flood flood = bench.flood(before, 40, MILLI);

        int free = before == Before.ONE_BUSY ? 2 : 4;
        assertThat(flood.free()).isEqualTo(free);
        assertThat(flood.idealMillis()).isEqualTo(40.0 / free);
        assertThat(flood.atOnce()).isBetween(1, free);
        assertThat(flood.crossed()).isBetween(0L, 40L);
    }

    @Test
    void aBurstForEachWorkerIsCounted() throws Exception {
        Staying staying = bench.bursts(6, 2, MILLI);

        assertThat(staying.tasks()).isEqualTo(24);
        assertThat(staying.crossedShare()).isBetween(0.0, 1.0);
        assertThat(staying.busy()).isPositive();
    }

    @Test
    void aBalancedLoadIsCounted() throws Exception {
        Staying staying = bench.balanced(.5, MILLI, 100, 1);

        assertThat(staying.tasks()).isEqualTo(100);
        assertThat(staying.crossedShare()).isBetween(0.0, 1.0);
        assertThat(staying.busy()).isPositive();
    }

    @Test
    void aMachineIsReadFromItsSides() {
        assertThat(MadeUpMachine.of("12x8")).isEqualTo(new MadeUpMachine(12, 8)).hasToString("12x8");
        assertThat(MadeUpMachine.of("12x8").workers()).isEqualTo(96);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "12", "12x", "1x8", "4x0", "4x2x1", "axb"})
    void whatIsNoMachineIsNamed(String text) {
        assertThatThrownBy(() -> MadeUpMachine.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a made-up machine must")
                .hasMessageContaining("got " + text);
    }
}
