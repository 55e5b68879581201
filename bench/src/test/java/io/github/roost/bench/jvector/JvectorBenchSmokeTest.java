package io.github.roost.bench.jvector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Smoke test: the benchmark runs and compares the answers; so few rows say nothing about rates. */
class JvectorBenchSmokeTest {
    private static JvectorBench bench(String... arguments) {
        JvectorBench bench = new JvectorBench();
        new CommandLine(bench).parseArgs(arguments);
        return bench;
    }

    @Test
    void everyContenderIsMeasuredInEveryRound() throws Exception {
        Topology twoDomains =
                TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read();
        Map<String, List<Double>> rates = bench(
                        "--tables", "3", "--rows", "100", "--dimension", "8", "--rounds", "2", "--slice-millis", "20")
                .run(twoDomains);
        assertThat(rates.keySet()).containsExactly(JvectorBench.BASELINE, "roost v1", "roost v2-gated");
        assertThat(rates.values())
                .allSatisfy(rounds -> assertThat(rounds).hasSize(2).allMatch(rate -> rate > 0));
    }

    @Test
    void printsRatios() {
        StringWriter printed = new StringWriter();
        int status = new CommandLine(new JvectorBench())
                .setOut(new PrintWriter(printed))
                .execute("--tables", "2", "--rows", "50", "--dimension", "4", "--rounds", "1", "--slice-millis", "10");
        assertThat(status).isZero();
        assertThat(printed.toString())
                .contains("2 graphs of 50 x 4", "fork-join", "roost v2-gated", "1.00 (1.00 to 1.00)");
    }

    @Test
    void optionsOutOfRangeAreRefused() {
        assertThatThrownBy(() -> bench("--ef", "9").call())
                .isInstanceOf(CommandFailure.class)
                .hasMessage("--ef must be between 10 and 100000, got 9");
    }
}
