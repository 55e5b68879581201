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
        assertThat(report.at("/workload/hnsw/recall").asDouble()).isBetween(.95, 1.0);
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
                .contains("from the HNSW tables; the IVF table found")
                .contains("by table:")
                .contains("stolen by another worker")
                .contains("every worker joined")
                .contains("next: ./roost serve");
    }

    @Test
    void homesAreListedOnlyWhereThereAreSeveralDomains() {
        assertThat(onDomains(1))
                .contains("the only cache domain is the home of all tables")
                .doesNotContain("(epoch");
        assertThat(onDomains(2)).contains("before (epoch", "after (epoch", "remaps in windows of 50 ms");
    }

    private static String onDomains(int domains) {
        String topology = "pack:1 l3:" + domains + " core:1 pu:1";
        return CommandRun.of("demo", "--seconds", "1", "--tables", "1", "--k", "2", "--topology", topology)
                .out();
    }

    @Test
    void moreTablesThanSectionsAreRefused() {
        CommandRun run = CommandRun.of("demo", "--tables", "59");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err().strip())
                .isEqualTo("roost: --tables must be between 1 and the number of sections, 58, got 59");
    }
}
