package io.github.roost.bench.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FirstSecondsTest {
    private static FirstSeconds of(long... slots) {
        return new FirstSeconds(1, 1, slots);
    }

    @Test
    void theSettledRateIsTheMedianOfTheSecondHalf() {
        FirstSeconds run = of(0, 10, 50, 100, 90, 400, 100, 100);
        assertThat(run.settled()).isEqualTo(100);
        assertThat(run.share(2)).isEqualTo(.5);
    }

    @Test
    void oneFastSlotDoesNotCountAsSettled() {
        assertThat(of(0, 150, 10, 80, 95, 100, 100, 100, 100, 100).nearlySettledMillis())
                .isEqualTo(300);
        assertThat(of(100, 100, 100, 100).nearlySettledMillis()).isZero();
    }

    @Test
    void aRateThatIsNeverReachedIsNaN() {
        assertThat(of(0, 0, 0, 0, 0, 100, 0, 0, 100, 100).nearlySettledMillis()).isNaN();
        assertThat(of(9, 9, 9, 0, 0, 0).nearlySettledMillis()).isNaN();
    }

    @Test
    void aSavedTableIsOpenedAndSearched(@TempDir Path folder) throws Exception {
        Topology workers = TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read();
        Path table = folder.resolve("table.roost");
        FirstSeconds.save(table, workers, 500, 8);
        FirstSeconds run = FirstSeconds.measure(table, workers, 500, 8, 4, 10, Duration.ofMillis(300));
        assertThat(run.slots()).hasSize(3);
        assertThat(Arrays.stream(run.slots()).sum()).isPositive();
        assertThat(run.firstMillis()).isBetween(0.0, 60_000.0);
        assertThat(run.openMillis()).isPositive();
    }
}
