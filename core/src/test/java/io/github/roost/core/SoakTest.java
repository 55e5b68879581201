package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.github.roost.core.Soak.Report;
import io.github.roost.testkit.Effort;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code -Droost.soak.seconds=N}, or {@code ./roost soak --seconds N}, sets the time of all soaks together. */
@Tag("stress")
@Timeout(value = 7, unit = TimeUnit.DAYS) // the limit is in the test
class SoakTest {
    private static final int MACHINES = 2;
    private static final Duration DURATION =
            Duration.ofSeconds(Long.getLong("roost.soak.seconds", Effort.times(6)) / MACHINES);
    /** For what a soak waits for beyond its time: closes, and futures. */
    private static final Duration EXTRA = Duration.ofMinutes(4);

    @ParameterizedTest
    @CsvSource({"pack:1 l3:1 core:2 pu:1,2", "pack:1 l3:12 core:8 pu:1,96"})
    void nothingIsLostUnderFaultsOfEveryKind(String machine, int workers) {
        long seed = System.nanoTime();
        Soak soak = new Soak(TopologyReader.synthetic(machine).read(), seed);
        Report report = assertTimeoutPreemptively(DURATION.plus(EXTRA), () -> soak.run(DURATION));
        System.out.println(report);
        assertThat(report.violations()).as("seed %d", seed).isEmpty();
        assertThat(report.workers()).isEqualTo(workers);
        assertThat(report.futures()).isGreaterThan(1_000);
        assertThat(report.refused()).isPositive();
    }
}
