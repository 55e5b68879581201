package io.github.roost.bench.locality;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.simulator.measure.Schedulings;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Smoke test: the benchmark runs; what it measures on a machine of one cache domain says nothing. */
class LocalityBenchSmokeTest {
    @Test
    void everySchedulingIsMeasuredInEveryRound() {
        Topology twoDomains =
                TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read();
        LocalityBench bench = new LocalityBench();
        new CommandLine(bench).parseArgs("--table-kib", "64", "--slice-millis", "20", "--rounds", "3");
        Map<String, List<Double>> rates = bench.run(twoDomains);
        assertThat(rates.keySet()).containsExactlyElementsOf(Schedulings.NAMES);
        assertThat(rates.values())
                .allSatisfy(rounds -> assertThat(rounds).hasSize(3).allMatch(rate -> rate > 0));
    }
}
