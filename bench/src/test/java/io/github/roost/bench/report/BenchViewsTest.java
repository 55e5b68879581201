package io.github.roost.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class BenchViewsTest {
    private static JsonNode json(String text) throws IOException {
        return new ObjectMapper().readTree(text);
    }

    @Test
    void floodsAndWorkThatStaysHaveTablesOfTheirOwn() throws IOException {
        JsonNode run = json("""
                {"gates": [],
                 "floods": [{"machine": {"domains": 12, "workersPerDomain": 8}, "before": "ONE_BUSY", "tasks": 800,
                             "free": 84, "atOnce": 7, "tookMillis": 604.2, "idealMillis": 50.0, "crossed": 0}],
                 "staying": {"bursts": {"machine": {"domains": 4, "workersPerDomain": 8}, "tasks": 4000, "crossed": 10,
                                        "busy": 0.18}}}
                """);

        assertThat(BenchViews.gate(run).toString())
                .contains("| 12x8, one_busy | 7 of 84 | 604 | 50 | 0 |")
                .contains("| 4x8, bursts | 4,000 | 0.3 % | 18.0 % |");
    }

    @Test
    void aRunWithoutThemHasNoEmptyTable() throws IOException {
        assertThat(BenchViews.gate(json("{\"gates\": []}")).toString()).doesNotContain("work-conserving");
    }
}
