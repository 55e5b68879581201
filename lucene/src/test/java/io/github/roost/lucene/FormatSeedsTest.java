package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;

/** Lucene's own tests of a vector format with given seeds, in addition to the random one of {@link RoostVectorsFormatTest}. */
@Tag("stress")
class FormatSeedsTest {
    private static final String SEED = "tests.seed";

    @ParameterizedTest
    @ValueSource(strings = {"1", "2", "3", "5EED", "C0FFEE"})
    void theFormatPassesLucenesTestsWithSeed(String seed) {
        String before = System.getProperty(SEED);
        System.setProperty(SEED, seed);
        try {
            Result result = JUnitCore.runClasses(RoostVectorsFormatTest.class);
            assertThat(result.getFailures()).isEmpty();
            assertThat(result.getRunCount()).isGreaterThan(40);
        } finally {
            if (before == null) {
                System.clearProperty(SEED);
            } else {
                System.setProperty(SEED, before);
            }
        }
    }
}
