package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.rows.service.VersionSimulation.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VersionSimulationTest {
    private static final long BATCHES = 50_000;

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void noBatchIsMixedWhateverIsLostOrKilledAndNaiveOnesAre(int groups) {
        Outcome outcome = VersionSimulation.run(28, BATCHES, groups);
        assertThat(outcome.batches()).isEqualTo(BATCHES);
        assertThat(outcome.mixed()).isZero();
        assertThat(outcome.naiveMixed()).isPositive();
        assertThat(outcome.incomplete()).isZero();
        assertThat(outcome.outOfTurn()).isZero();
        assertThat(outcome.answered()).isGreaterThan(BATCHES / 1_000 * 999);
        // What the simulation is to be worth something for.
        assertThat(outcome.attempts()).isGreaterThan(BATCHES);
        assertThat(outcome.hedges()).isGreaterThan(BATCHES / 1_000);
        assertThat(outcome.rolls()).isGreaterThan(4);
        assertThat(outcome.fencedOff()).isPositive();
        assertThat(outcome.byPhase()).hasSize(6 * groups + 3);
        outcome.byPhase()
                .forEach((phase, victims) -> assertThat(victims)
                        .as("killed and replaced: %s", phase)
                        .containsKeys("OTHER_SERVER", "COORDINATOR", "RIVAL")
                        .allSatisfy((victim, count) -> assertThat(count).isPositive()));
        assertThat(outcome.messages()).hasSize(4).allSatisfy(kind -> {
            assertThat(kind.lost()).isPositive();
            assertThat(kind.doubled()).isPositive();
            assertThat(kind.late()).isPositive();
        });
    }

    @Test
    void theSameSeedIsTheSameRun() {
        assertThat(VersionSimulation.run(1, 5_000)).isEqualTo(VersionSimulation.run(1, 5_000));
        assertThat(VersionSimulation.run(1, 5_000)).isNotEqualTo(VersionSimulation.run(2, 5_000));
    }
}
