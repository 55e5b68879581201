package io.github.roost.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The demo end to end, narrowed to what is quick to build. */
@Tag("stress")
class DemoTest {
    /** The folder of the project: tests run in that of the module. */
    @BeforeEach
    void setHome() {
        System.setProperty(
                "roost.home", Path.of("..").toAbsolutePath().normalize().toString());
    }

    @AfterEach
    void unsetHome() {
        System.clearProperty("roost.home");
    }

    @Test
    void theJsonReportHasRightAnswersFromBothIndexesAndWorkersThatJoined() throws IOException {
        CommandRun run = CommandRun.of("demo", "--json", "--seconds", "2", "--tables", "3");

        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        JsonNode report = new ObjectMapper().readTree(run.out());
        assertThat(report.at("/machine/workers"))
                .isNotEmpty()
                .allSatisfy(worker -> assertThat(worker.get("domain").asInt()).isNotNegative());
        assertThat(report.at("/build/hnswTables").asInt()).isEqualTo(3);
        assertThat(report.at("/answers")).hasSize(12).allSatisfy(answer -> {
            assertThat(answer.get("hnsw")).hasSize(3);
            assertThat(answer.get("ivf")).hasSize(3);
        });
        for (String kind : new String[] {"hnsw", "hnswMerged"}) {
            assertThat(report.at("/workload/" + kind + "/recall").asDouble()).isBetween(.95, 1.0);
        }
        assertThat(report.at("/workload/ivf/recall").asDouble()).isBetween(.90, 1.0);
        assertThat(report.at("/workload/hnsw/queries").asLong()).isPositive();
        assertThat(report.at("/workload/traffic"))
                .hasSize(4)
                .allSatisfy(table -> assertThat(table.get("bytes").asLong()).isPositive());
        assertThat(report.at("/placement/before/tables")).hasSize(3);
        assertThat(report.at("/placement/after/tables")).hasSize(3);
        assertThat(report.at("/steals/tasks").asLong()).isPositive();
        assertThat(report.at("/workersJoined").asBoolean()).isTrue();
    }

    @Test
    void theTextNamesWhatAPersonWantsToSee() {
        CommandRun run = CommandRun.of("demo", "--seconds", "1", "--tables", "1", "--k", "2");

        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains("worker 0: domain 0")
                .contains("\"edit video clips\"")
                .contains("recall@2")
                .contains("traffic by table")
                .contains("before (epoch")
                .contains("after (epoch")
                .contains("stolen inside a domain")
                .contains("every worker joined");
    }

    @Test
    void moreTablesThanSectionsAreRefused() {
        CommandRun run = CommandRun.of("demo", "--tables", "59");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err().strip())
                .isEqualTo("roost: --tables must be between 1 and the number of sections, 58, got 59");
    }
}
