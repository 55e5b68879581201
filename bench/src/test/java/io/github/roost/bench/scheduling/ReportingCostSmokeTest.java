package io.github.roost.bench.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("stress")
@Tag("nightly")
class ReportingCostSmokeTest {
    @Test
    void everyRoundHasARatio() {
        assertThat(new ReportingCost(0, 2, Duration.ofNanos(100_000)).run(3))
                .hasSize(3)
                .allMatch(ratio -> ratio > 0 && Double.isFinite(ratio));
    }
}
