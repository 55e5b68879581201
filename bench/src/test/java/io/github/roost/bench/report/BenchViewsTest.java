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
    void virtualThreadsStandBesidePlatformThreads() throws IOException {
        JsonNode run = json("""
                {"idleShareOfACore": 0, "monitorRatios": [1.0],
                 "callerThreads": {"ivf": {
                   "platform": {"perSecond": [1000, 2000], "searches": 2000, "collections": 1, "offHeapBytesPerSearch": 0},
                   "virtual": {"perSecond": [500, 500], "searches": 1000, "collections": 2, "offHeapBytesPerSearch": 145454}}}}
                """);

        assertThat(BenchViews.scheduling(run).toString())
                .contains("| ivf, virtual | 500 (500 to 500) | 0.38 (0.25 to 0.50) | 2,000 | 145,454 |");
    }

    @Test
    void aRunWithoutThemHasNoEmptyTables() throws IOException {
        assertThat(BenchViews.gate(json("{\"gates\": []}")).toString()).doesNotContain("work-conserving");
        assertThat(BenchViews.scheduling(json("{\"idleShareOfACore\": 0, \"monitorRatios\": [1.0]}"))
                        .toString())
                .doesNotContain("collections");
    }
}
