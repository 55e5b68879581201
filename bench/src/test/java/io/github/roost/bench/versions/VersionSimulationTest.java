package io.github.roost.bench.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.bench.versions.VersionSimulation.Outcome;
import org.junit.jupiter.api.Test;

class VersionSimulationTest {
    private static final long BATCHES = 300_000;

    @Test
    void noBatchIsMixedWhateverIsLostOrKilledAndNaiveOnesAre() {
        Outcome outcome = VersionSimulation.run(28, BATCHES);
        assertThat(outcome.batches()).isEqualTo(BATCHES);
        assertThat(outcome.mixed()).isZero();
        assertThat(outcome.naiveMixed()).isPositive();
        // What the simulation is to be worth something for.
        assertThat(outcome.answered()).isGreaterThan(BATCHES / 100 * 99);
        assertThat(outcome.attempts()).isGreaterThan(BATCHES);
        assertThat(outcome.rolls()).isGreaterThan(2);
        assertThat(outcome.kills()).isGreaterThan(20);
        assertThat(outcome.incomplete()).isZero();
        assertThat(outcome.fencedOff()).isPositive();
    }

    @Test
    void theSameSeedIsTheSameRun() {
        assertThat(VersionSimulation.run(1, 5_000)).isEqualTo(VersionSimulation.run(1, 5_000));
        assertThat(VersionSimulation.run(1, 5_000)).isNotEqualTo(VersionSimulation.run(2, 5_000));
    }
}
