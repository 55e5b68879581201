package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Soak.Report;
import io.github.roost.testkit.Effort;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("stress")
@Timeout(value = 180, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SoakTest {
    @ParameterizedTest
    @CsvSource({"pack:1 l3:1 core:2 pu:1,2", "pack:1 l3:12 core:8 pu:1,96"})
    void nothingIsLostUnderFaultsOfEveryKind(String machine, int workers) {
        long seed = System.nanoTime();
        Report report =
                new Soak(TopologyReader.synthetic(machine).read(), seed).run(Duration.ofSeconds(Effort.times(3)));
        assertThat(report.violations()).as("seed %d", seed).isEmpty();
        assertThat(report.workers()).isEqualTo(workers);
        assertThat(report.futures()).isGreaterThan(1_000);
        assertThat(report.refused()).isPositive();
    }
}
