package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.testkit.Machines;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What services print: a renamed component would break whoever reads it. */
class JsonFormTest {
    private final ObjectMapper json = new ObjectMapper();
    private final Orchestrator orchestrator = Machines.orchestrator(2, 1).build();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    @Test
    void theMappingByTable() {
        orchestrator.register("b", 3);
        orchestrator.register("a");
        assertThat(json.valueToTree(orchestrator.mapping()).toString())
                .isEqualTo("{\"epoch\":2,\"domains\":2,\"tables\":["
                        + "{\"name\":\"a\",\"homes\":[[1]]},{\"name\":\"b\",\"homes\":[[0],[1],[0]]}]}");
    }

    @Test
    void theStatsFieldByField() {
        Registration table = orchestrator.register("a");
        orchestrator
                .submit(
                        (query, context) -> {
                            context.touched(1, 100);
                            return query;
                        },
                        1,
                        table.id())
                .join();
        JsonNode stats = json.valueToTree(orchestrator.stats());
        assertThat(names(stats))
                .containsExactly(
                        "scheduling",
                        "epoch",
                        "remaps",
                        "movedBytes",
                        "imbalance",
                        "tasks",
                        "broken",
                        "workers",
                        "domains",
                        "tables");
        assertThat(names(stats.get("tasks")))
                .containsExactly(
                        "completed", "failed", "cancelled", "expired", "rejected", "intraSteals", "crossSteals");
        assertThat(names(stats.get("workers").get(1)))
                .containsExactly(
                        "worker", "domain", "core", "pin", "waiting", "completed", "intraSteals", "crossSteals");
        assertThat(names(stats.get("domains").get(1)))
                .containsExactly(
                        "domain",
                        "waiting",
                        "parked",
                        "maintenance",
                        "trafficBytes",
                        "mappingIds",
                        "timedWaits",
                        "waitNanos",
                        "timedRuns",
                        "runNanos");
        assertThat(stats.get("tables").toString())
                .isEqualTo("[{\"name\":\"a\",\"clusters\":1,\"searches\":1,\"trafficBytes\":100,\"recall\":null}]");
    }

    @Test
    void onlyTheTablesWithTheMostTrafficOnDemand() {
        for (int i = 0; i < 5; i++) {
            long bytes = 1 + (i * 3L) % 5;
            orchestrator
                    .submit(
                            (query, context) -> {
                                context.touched(1, bytes);
                                return query;
                            },
                            1,
                            orchestrator.register("table-" + bytes).id())
                    .join();
        }
        assertThat(orchestrator.stats(2).tables())
                .extracting(OrchestratorStats.TableStats::name)
                .containsExactly("table-5", "table-4");
        assertThat(orchestrator.stats(0).tables()).isEmpty();
        assertThat(orchestrator.stats().tables()).hasSize(5);
        assertThatThrownBy(() -> orchestrator.stats(-1)).hasMessageContaining("at least 0, got -1");
    }

    private static List<String> names(JsonNode node) {
        List<String> names = new ArrayList<>();
        node.fieldNames().forEachRemaining(names::add);
        return names;
    }
}
