package io.github.roost.bench.locality;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.simulator.measure.Schedulings;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Smoke test: the benchmark runs; what it measures on a machine of one cache domain says nothing. */
class LocalityBenchSmokeTest {
    @Test
    void everySchedulingIsMeasuredInEveryRound() {
        Topology twoDomains =
                TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read();
        Map<String, List<Double>> rates = new LocalityBench(twoDomains, 64 << 10, Duration.ofMillis(20)).run(3);
        assertThat(rates.keySet()).containsExactlyElementsOf(Schedulings.NAMES);
        assertThat(rates.values())
                .allSatisfy(rounds -> assertThat(rounds).hasSize(3).allMatch(rate -> rate > 0));
    }

    @Test
    void oneDomainCannotBeCompared() {
        Topology oneDomain = TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read();
        assertThatThrownBy(() -> new LocalityBench(oneDomain, 1 << 20, Duration.ofMillis(20)))
                .hasMessageContaining("at least 2 cache domains to compare, got 1");
    }
}
