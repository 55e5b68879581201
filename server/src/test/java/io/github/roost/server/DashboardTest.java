package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.github.roost.testkit.PeerPython;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("program")
class DashboardTest {
    private static final String SDK = "grafana-foundation-sdk==1769699998!10.1.0";

    /** Reads the dashboard as Grafana's SDK does, writes it again, and prints what is lost in between. */
    private static final String ROUND_TRIP = """
            import json, sys
            from grafana_foundation_sdk.cog.encoder import JSONEncoder
            from grafana_foundation_sdk.models.dashboard import Dashboard

            def compare(a, b, path):
                if isinstance(a, dict) and isinstance(b, dict):
                    for key in a:
                        compare(a[key], b.get(key), path + "/" + key)
                elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
                    for i in range(len(a)):
                        compare(a[i], b[i], path + "/" + str(i))
                elif a != b:
                    print(path, a, b)

            raw = json.load(open(sys.argv[1]))
            dashboard = Dashboard.from_json(raw)
            compare(raw, json.loads(JSONEncoder().encode(dashboard)), "")
            print(dashboard.title, len(dashboard.panels))
            """;

    @Test
    void theModelsOfGrafanaReadItWhole() throws IOException, InterruptedException {
        Process run = new ProcessBuilder(python().toString(), "-c", ROUND_TRIP, "../docs/reference/grafana/roost.json")
                .redirectErrorStream(true)
                .start();

        assertThat(new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .matches("Roost \\d\\d\\n");
        assertThat(run.waitFor()).isZero();
    }

    private static Path python() throws InterruptedException {
        try {
            return PeerPython.prepare(Path.of("target/peers/grafana").toAbsolutePath(), SDK);
        } catch (IOException e) {
            return abort("Grafana's SDK needs Python 3 and a package registry: " + e.getMessage());
        }
    }
}
