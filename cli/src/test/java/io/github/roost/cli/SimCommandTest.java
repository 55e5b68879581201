package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.simulator.workload.WorkloadSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("stress")
class SimCommandTest {
    @Test
    void printsThePapersFiguresBesideItsOwnAndKeepsWhatItRecorded(@TempDir Path folder) throws Exception {
        Path workload = Files.writeString(
                folder.resolve("w.json"),
                WorkloadSpec.load("hnsw")
                        .json()
                        .replace("\"tables\" : 60", "\"tables\" : 6")
                        .replace("\"targets\" : 300", "\"targets\" : 10")
                        .replace("\"mostK\" : 500", "\"mostK\" : 100"));
        Path traces = folder.resolve("traces");
        Path json = folder.resolve("result.json");
        Object[] arguments = {
            "sim",
            "--workload",
            workload,
            "--budget-mib",
            2,
            "--traces",
            traces,
            "--ccds",
            "1..2",
            "--searches",
            200,
            "--window",
            20,
            "--tables",
            "--json",
            json
        };
        CommandRun first = CommandRun.of(arguments);
        assertThat(first.err()).contains("recording the reads", "recorded table 6 of 6");
        assertThat(first.err()).contains("simulating v0", "simulated v0");
        assertThat(first.out()).contains("the paper", "figures 14, 15", "figure 19b", "table-5");
        assertThat(first.out()).contains("windows of 20 searches", "the paper's are of 10 s");
        assertThat(first.status()).isZero();
        assertThat(Files.readString(json)).contains("\"policy\" : \"v2\"");
        CommandRun again = CommandRun.of(arguments);
        assertThat(again.err()).doesNotContain("recording", "recorded");
        assertThat(again.out()).isEqualTo(first.out());
    }

    @Test
    void aRegimeThatIsNoneIsNamed() {
        CommandRun run = CommandRun.of("sim", "--matrix", "--regime", "huge");
        assertThat(run.status()).isNotZero();
        assertThat(run.err()).contains("got huge");
    }

    @ParameterizedTest
    @CsvSource({
        "--machine, --json",
        "--workload, --json",
        "--parameters, --json",
        "--traces, --json",
        "--parameters, --out"
    })
    void aFileThatIsReadIsNotOverwritten(String input, String output, @TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("in.xml"), "mine");
        CommandRun run = CommandRun.of("sim", input, file, output, file);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err().lines())
                .containsExactly(
                        "roost: " + output + " " + file + " is the file of " + input + ", which it would overwrite");
        assertThat(file).hasContent("mine");
    }

    @Tag("nightly")
    @Test
    void theMatrixHasTheWorstCellOnTopAndIsWrittenAsJson(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("matrix.json");
        CommandRun run = CommandRun.of("sim", "--matrix", "--quick", "--regime", "paper", "--rows", 5, "--json", json);
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("bar is .99", "throughput:", "p999:");
        assertThat(run.out().lines().skip(2).limit(5))
                .allSatisfy(row -> assertThat(row).contains("paper"));
        assertThat(Files.readString(json)).contains("\"worstFirst\"", "\"v2-gated\"");
    }

    @ParameterizedTest
    @CsvSource({
        "--machine, milan, got milan",
        "--policy, v7, got v7",
        "--ccds, 3..1, got 3..1",
        "--ccds, 1..2000000000, got 1..2000000000",
        "--ccds, 13, 'up to the 12 domains per package of genoa, got 13'",
        "--in-flight, -3, got -3",
        "--workload, none.json, got none.json",
        "--sample, 0, got 0",
        "--window-seconds, -1, got -1"
    })
    void badOptionsAreNamed(String option, String value, String complaint) {
        CommandRun run = CommandRun.of("sim", "--budget-mib", 1, option, value);
        assertThat(run.status()).isNotZero();
        assertThat(run.err().lines().toList().getLast()).contains(complaint);
        assertThat(run.err()).doesNotContain("recorded");
    }
}
