package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.testkit.PeerPython;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("program")
class ApiDescriptionTest {
    private static final String SCHEMATHESIS = "schemathesis==4.32.5";

    /** What is valid by the description may still ask for a row that is not there: such names are not enumerated; and the deadlines of searches are short. */
    private static final String SETTINGS = """
            [checks.positive_data_acceptance]
            expected-statuses = ["2xx", "404", "422", "504"]
            [checks.not_a_server_error]
            expected-statuses = ["2xx", "3xx", "4xx", "504"]
            """;

    @Test
    void theDescriptionIsTrueByTheJudgmentOfSchemathesis(@TempDir Path folder)
            throws IOException, InterruptedException {
        Path python = python();
        Files.writeString(folder.resolve("schemathesis.toml"), SETTINGS);
        try (SmallService service = SmallService.ready()) {
            Process run = new ProcessBuilder(
                            python.resolveSibling("schemathesis").toString(),
                            "--config-file",
                            folder.resolve("schemathesis.toml").toString(),
                            "run",
                            service.uri("/openapi.json").toString(),
                            "--phases",
                            "examples,coverage,fuzzing",
                            "--max-examples",
                            "15",
                            "--seed",
                            "8",
                            "--generation-database",
                            "none",
                            "--workers",
                            "2",
                            "--no-color")
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            String report = new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(run.waitFor()).as(report).isZero();
            assertThat(report).contains("Tested: 13");
        }
    }

    private static Path python() throws InterruptedException {
        try {
            return PeerPython.prepare(Path.of("target/peers/schemathesis").toAbsolutePath(), SCHEMATHESIS);
        } catch (IOException e) {
            return abort("schemathesis needs Python 3 and a package registry: " + e.getMessage());
        }
    }

    @Test
    void vectorsAreDescribedWithTheDimensionThatTheTablesHave() {
        try (SmallService service = SmallService.ready()) {
            JsonNode vector = service.get("/openapi.json").json().at("/components/schemas/Vector");

            assertThat(vector.path("minItems").asInt()).isEqualTo(SmallService.DIMENSION);
            assertThat(vector.path("maxItems").asInt()).isEqualTo(SmallService.DIMENSION);
        }
    }
}
