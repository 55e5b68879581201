package io.github.roost.vector.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EffortCorrectionTest {
    /** Searches of 10 rows whose misses depend on the factor; returns how often the factor rose and fell in the last half of them. */
    private static int[] run(EffortCorrection correction, DoubleUnaryOperator misses, int searches, long seed) {
        Random random = new Random(seed);
        int[] changes = new int[2];
        for (int i = 0; i < searches; i++) {
            double factor = correction.factor();
            int found = 0;
            for (int row = 0; row < 10; row++) {
                found += random.nextDouble() >= misses.applyAsDouble(factor) ? 1 : 0;
            }
            correction.add(factor, found / 10.);
            if (i >= searches / 2 && correction.factor() != factor) {
                changes[correction.factor() > factor ? 0 : 1]++;
            }
        }
        return changes;
    }

    /** Misses fall with the effort, or more slowly, or faster. */
    @ParameterizedTest
    @ValueSource(doubles = {.5, 1, 2})
    void queriesUnlikeTheRowsReachTheTargetAndThenTheFactorStays(double power) {
        for (int seed = 0; seed < 20; seed++) {
            EffortCorrection correction = new EffortCorrection(.95);
            DoubleUnaryOperator misses = factor -> Math.min(1, .15 / Math.pow(factor, power));
            int[] late = run(correction, misses, 2_000, seed);
            assertThat(1 - misses.applyAsDouble(correction.factor())).isBetween(.94, .99);
            // Last small rises, but never up and down.
            assertThat(late[0]).isLessThanOrEqualTo(4);
            assertThat(late[1]).isZero();
        }
    }

    @Test
    void aFactorThatIsRightChangesRarelyAndLittle() {
        int changed = 0;
        for (int seed = 0; seed < 50; seed++) {
            EffortCorrection correction = new EffortCorrection(.95);
            run(correction, factor -> .045 / factor, 1_000, seed);
            changed += correction.factor() == 1 ? 0 : 1;
            assertThat(correction.factor()).isBetween(.8, 1.25);
        }
        assertThat(changed).isLessThan(20);
    }

    @Test
    void queriesThatAreEasierLowerItButNotBelowHalf() {
        EffortCorrection easy = new EffortCorrection(.9);
        run(easy, factor -> .002 / factor, 3_000, 1);
        assertThat(easy.factor()).isEqualTo(EffortCorrection.SMALLEST);
    }

    @Test
    void itIsBoundedIfNoEffortReachesTheTarget() {
        for (double target : new double[] {.9, 1}) {
            EffortCorrection hopeless = new EffortCorrection(target);
            run(hopeless, factor -> .5, 5_000, 1);
            assertThat(hopeless.factor()).isEqualTo(EffortCorrection.LARGEST);
        }
    }

    @Test
    void aSearchWithAnEarlierFactorDoesNotCount() {
        EffortCorrection correction = new EffortCorrection(.9);
        for (int i = 0; i < 10 * EffortCorrection.SEARCHES; i++) {
            correction.add(2, 0);
        }
        assertThat(correction.factor()).isEqualTo(1);
    }
}
