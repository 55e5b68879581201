package io.github.roost.index.disk.stall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UtilizationTunerTest {
    private static final long STALL = 90_000;
    private static final double COMPUTED = 30_000;

    /** Cycles whose filled stalls cost so much of a cycle, with noise; the mean slowdown of the second half. */
    private static double run(UtilizationTuner tuner, double cost, int cycles, long seed) {
        Random random = new Random(seed);
        double slowdown = 0;
        for (int i = 0; i < cycles; i++) {
            boolean empty = i % StallFilling.BLOCK < StallFilling.EMPTY;
            // Stalls from a half to one and a half; computing from a quarter to four times, and a thousandth of all
            // lose their core.
            double noise = Math.exp(random.nextGaussian() / 2) / Math.exp(1 / 8.0);
            double computed = COMPUTED * noise + (random.nextInt(1_000) == 0 ? 5_000_000 : 0);
            boolean filled = !empty && random.nextDouble() < tuner.share();
            double lost = filled ? cost * (STALL + COMPUTED) : 0;
            double stall = STALL * (.5 + random.nextDouble());
            tuner.add(empty, (long) (stall + lost / 2), lost / 2, (long) (computed + lost / 2));
            slowdown += i >= cycles / 2 ? cost * tuner.share() / (cycles / 2.0) : 0;
        }
        return slowdown;
    }

    @ParameterizedTest
    @ValueSource(doubles = {.02, .05, .1, .2})
    void theShareSettlesWhereSearchesTakeAsMuchLongerAsTheyMay(double target) {
        for (long seed = 1; seed <= 5; seed++) {
            assertThat(run(new UtilizationTuner(target), .4, 400_000, seed)).isCloseTo(target, within(.015));
        }
    }

    @Test
    void updatesThatCostLessThanTheTargetMayUseEveryStallWithinThousandsOfThem() {
        for (long seed = 1; seed <= 20; seed++) {
            UtilizationTuner tuner = new UtilizationTuner(.05);
            run(tuner, .02, 40 * StallFilling.BLOCK, seed);
            assertThat(tuner.share()).as("seed " + seed).isEqualTo(1);
        }
    }

    @Test
    void aStepOfTheLoadIsFollowed() {
        UtilizationTuner tuner = new UtilizationTuner(.05);
        run(tuner, .1, 300_000, 3);
        double light = tuner.share();
        assertThat(run(tuner, .8, 600_000, 4)).isCloseTo(.05, within(.015));
        assertThat(tuner.share()).isLessThan(light);
        run(tuner, .02, 300_000, 5);
        assertThat(tuner.share()).isEqualTo(1);
    }

    @Test
    void aShareThatIsWithinTheIntervalStays() {
        UtilizationTuner tuner = new UtilizationTuner(.05);
        run(tuner, .1, 600_000, 6);
        double settled = tuner.share();
        int changes = 0;
        for (int i = 0; i < 100; i++) {
            double before = tuner.share();
            run(tuner, .1, 10 * StallFilling.BLOCK, 7 + i);
            changes += tuner.share() == before ? 0 : 1;
        }
        assertThat(changes).as("changes in 1,000 pairs").isLessThan(50);
        assertThat(tuner.share()).isCloseTo(settled, within(.25));
    }

    @Test
    void withoutEmptyStallsNothingIsChanged() {
        UtilizationTuner tuner = new UtilizationTuner(.05);
        double first = tuner.share();
        for (int i = 0; i < 10_000; i++) {
            tuner.add(false, 0, 0, 0);
        }
        assertThat(tuner.share()).isEqualTo(first);
        assertThat(tuner.slowdown()).isZero();
    }

    @Test
    void aThreadThatLostItsCoreForALongTimeSaysNothing() {
        UtilizationTuner tuner = new UtilizationTuner(.05);
        for (int i = 0; i < 100_000; i++) {
            boolean empty = i % StallFilling.BLOCK < StallFilling.EMPTY;
            // One of a thousand filled cycles is ten milliseconds: their plain mean is 10 % longer.
            tuner.add(empty, 70_000, 0, !empty && i % 1_000 == 999 ? 10_000_000 : 30_000);
        }
        assertThat(tuner.slowdown()).isLessThan(.02);
        assertThat(tuner.share()).isGreaterThan(.4);
    }
}
