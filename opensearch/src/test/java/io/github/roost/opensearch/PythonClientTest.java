package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.github.roost.testkit.PeerPython;
import io.github.roost.testkit.opensearch.LocalCluster;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("program")
class PythonClientTest {
    private static final String CLIENT = "opensearch-py==3.2.0";
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
    private static final Path PROGRAM = Path.of("src/test/resources/io/github/roost/opensearch/client.py");

    @Test
    void aServiceInPythonGetsRightAnswers() throws IOException, InterruptedException {
        Path python = python();
        try (LocalCluster cluster = LocalCluster.start(CHECKOUT, 1, "512m", 0, Map.of())) {
            Process program = new ProcessBuilder(
                            python.toString(),
                            PROGRAM.toString(),
                            cluster.client().base())
                    .redirectErrorStream(true)
                    .start();
            String printed = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(program.waitFor()).as(printed).isZero();
            assertThat(printed).endsWith("all answers are right\n");
        }
    }

    private static Path python() throws InterruptedException {
        try {
            return PeerPython.prepare(Path.of("target/peers/opensearch-py").toAbsolutePath(), CLIENT);
        } catch (IOException e) {
            return abort("opensearch-py needs Python 3 and a package registry: " + e.getMessage());
        }
    }
}
