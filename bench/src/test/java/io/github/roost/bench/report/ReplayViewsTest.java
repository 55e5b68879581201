package io.github.roost.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ReplayViewsTest {
    private static final String OUTCOME = """
            {"name": "%s", "rates": [%s], "ratios": [1.0], "recall": 0.99,
             "latencies": {"count": 100, "p50us": %s, "p99us": 500, "p999us": 900}, "late": {"p999us": 77},
             "scheduled": {"intraSteals": 1, "crossSteals": 2, "remaps": 3, "movedMib": 0}, "cpuMicros": 9}
            """;

    private static JsonNode run() throws IOException {
        return new ObjectMapper().readTree("""
                {"workload": {"name": "hnsw"}, "domains": 2, "outcomes": [%s, %s], "predicted": [],
                 "loads": [{"load": 0.5, "perSecond": 500, "outcomes": [%s], "predicted": []},
                           {"load": 0.9, "perSecond": 900, "outcomes": [%s], "predicted": []}]}
                """.formatted(
                        OUTCOME.formatted("v1", "1000", "100"),
                        OUTCOME.formatted("roost", "1100", "90"),
                        OUTCOME.formatted("v1", "499", "110"),
                        OUTCOME.formatted("v1", "890", "210")));
    }

    @Test
    void eachOpenLoopHasATableOfItsOwn() throws IOException {
        assertThat(ReplayViews.of(run()).markdown())
                .contains("| closed loop, 2 domains | searches/s |", "| roost | 1,100 |")
                .contains("| open loop, 0.50 of the load, 500/s |", "| v1 | 499 | 110 | 500 | 900 | 77 |")
                .contains("| open loop, 0.90 of the load, 900/s |", "| v1 | 890 | 210 | 500 | 900 | 77 |")
                .doesNotContain("predicts");
    }

    @Test
    void latenciesAreDrawnOverSeveralLoads() throws IOException {
        assertThat(ReplayViews.of(run()).plots())
                .extracting(plot -> plot.title())
                .containsExactly("Replay in open loop, hnsw: P50", "Replay in open loop, hnsw: P999");
    }
}
