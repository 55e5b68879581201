package io.github.roost.vector.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

class RecallWindowTest {
    private static RecallWindow of(int searches, ToDoubleFunction<Random> recall, long seed) {
        Random random = new Random(seed);
        RecallWindow window = new RecallWindow();
        for (int i = 0; i < searches; i++) {
            window.add(recall.applyAsDouble(random), 10);
        }
        return window;
    }

    /** The recall of a search that finds each of its 10 rows with a probability. */
    private static double tenRows(Random random, double probability) {
        int found = 0;
        for (int row = 0; row < 10; row++) {
            found += random.nextDouble() < probability ? 1 : 0;
        }
        return found / 10.;
    }

    @Test
    void searchesThatFoundAllAreAsCertainAsTheRuleOfThreeSays() {
        for (int searches : new int[] {20, 100, 200}) {
            RecallWindow window = of(searches, random -> 1, 1);
            assertThat(window.mean()).isEqualTo(1);
            assertThat(window.high()).isEqualTo(1);
            assertThat(window.low()).isCloseTo(1 - 3. / searches, within(.01));
        }
        assertThat(of(1, random -> 1, 1).low()).isZero();
        assertThat(of(200, random -> 0, 1).high()).isBetween(.01, .02);
    }

    @Test
    void theIntervalHasTheTrueRecallInNinetyFiveOfAHundredCasesAlsoIfWholeSearchesFail() {
        int inside = 0;
        int insideOfFailures = 0;
        for (int seed = 0; seed < 1_000; seed++) {
            RecallWindow even = of(50, random -> tenRows(random, .9), seed);
            inside += even.low() <= .9 && .9 <= even.high() ? 1 : 0;
            RecallWindow whole = of(100, random -> random.nextInt(50) == 0 ? 0 : 1, seed);
            insideOfFailures += whole.low() <= .98 && .98 <= whole.high() ? 1 : 0;
        }
        assertThat(inside).isGreaterThan(950);
        assertThat(insideOfFailures).isGreaterThan(900);
    }

    @Test
    void onlyTheLatestSearchesCount() {
        RecallWindow window = of(150, random -> 0, 1);
        for (int i = 0; i < RecallWindow.SIZE; i++) {
            window.add(i % 2, 20);
        }
        assertThat(window.size()).isEqualTo(RecallWindow.SIZE);
        assertThat(window.mean()).isEqualTo(.5);
        assertThat(window.meanNeighbors()).isEqualTo(20);
        window.clear();
        window.add(1, 5);
        assertThat(window.mean()).isEqualTo(1);
        assertThat(window.meanNeighbors()).isEqualTo(5);
    }
}
