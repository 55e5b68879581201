package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.server.SmallService.Busy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of docs/guide/operations.md, run on this process. */
@Tag("program")
class FlightRecorderTest {
    private static final String PID = Long.toString(ProcessHandle.current().pid());

    @Test
    void jcmdRecordsTheEventsOfARunningServiceAndJfrPrintsThem(@TempDir Path folder)
            throws IOException, InterruptedException {
        Path recording = folder.resolve("roost.jfr");
        run("jcmd", PID, "JFR.start", "name=roost");
        try (SmallService full = SmallService.withOneWorker(1, ServeSettings.DEFAULT);
                Busy busy = full.busyWorker()) {
            var _ = full.orchestrator.submit(
                    (query, context) -> query, 0, busy.registration().id());
            assertThat(full.post("/tables/games/search", "{\"like\":\"games-1\"}")
                            .status())
                    .isEqualTo(429);
        }
        run("jcmd", PID, "JFR.dump", "name=roost", "filename=" + recording);
        run("jcmd", PID, "JFR.stop", "name=roost");

        assertThat(run("jfr", "print", "--categories", "Roost", recording.toString()))
                .contains("io.github.roost.Rejected {", "domain = 0");
    }

    private static String run(String tool, String... arguments) throws IOException, InterruptedException {
        ProcessBuilder command = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", tool).toString());
        command.command().addAll(List.of(arguments));
        Process process = command.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
