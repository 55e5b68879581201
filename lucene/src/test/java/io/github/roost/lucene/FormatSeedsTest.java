package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Effort;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;

/** Lucene's own tests of a vector format with given seeds, in addition to the random one of {@link RoostVectorsFormatTest}. */
@Tag("stress")
class FormatSeedsTest {
    private static final String SEED = "tests.seed";

    static Stream<String> seeds() {
        return Stream.of("1", "5EED", "C0FFEE", "2", "3").limit(Effort.times(2));
    }

    @ParameterizedTest
    @MethodSource("seeds")
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
