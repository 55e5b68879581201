package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.rows.service.etcd.local.LocalEtcd;
import io.github.roost.testkit.Effort;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three servers, each a JVM, and etcd, as the command starts them. */
@Tag("program")
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TableServiceCommandTest {
    @TempDir
    Path folder;

    private static JsonNode client(CommandRun run) throws IOException {
        assertThat(run.status()).as(run.out() + run.err()).isZero();
        return new ObjectMapper().readTree(run.out()).at("/client");
    }

    @Test
    void whileVersionsAreRolledOutEveryBatchIsAnsweredAndRightAndMemoryIsThatOfOneVersionMore() throws IOException {
        JsonNode client =
                client(CommandRun.of("table-service", "--nodes", "3", "--versions", "1", "--rows", "2000", "--json"));
        assertThat(client.at("/processes").asBoolean())
                .isEqualTo(LocalEtcd.program().isPresent());
        assertThat(client.at("/batches").asLong()).isPositive();
        assertThat(client.at("/failed").asLong()).isZero();
        assertThat(client.at("/wrong").asLong()).isZero();
        assertThat(client.at("/byVersion")).hasSize(2);
        assertThat(client.at("/maxVersions").asInt()).isEqualTo(4);
        assertThat(client.at("/maxMemory").asDouble()).isEqualTo(4 / 3.0, offset(0.01));
    }

    @Tag("nightly")
    @Test
    void whoeverIsKilledNoBatchIsWrongOrWithoutAnAnswerAndTheServersComeBack() throws IOException {
        assumeTrue(LocalEtcd.program().isPresent(), "needs etcd: apt-get install etcd-server");
        JsonNode client = client(CommandRun.of(
                "table-service",
                "--nodes=3",
                "--versions=1",
                "--rows=2000",
                "--kill",
                "--outage=" + Effort.times(6),
                "--json"));
        assertThat(client.at("/kills").asInt()).isEqualTo(4);
        assertThat(client.at("/failed").asLong()).isZero();
        assertThat(client.at("/wrong").asLong()).isZero();
        assertThat(client.at("/maxVersions").asInt()).isEqualTo(4);
        assertThat(client.at("/client/answers")).hasSize(3);
    }

    /** A shell that runs the tests in the background makes them, and the programs that they start, ignore SIGINT. */
    private static boolean isInterruptIgnored() throws IOException {
        try (Stream<String> status = Files.lines(Path.of("/proc/self/status"))) {
            return status.filter(line -> line.startsWith("SigIgn:"))
                    .map(line -> line.substring("SigIgn:".length()).trim())
                    .anyMatch(mask -> (Long.parseUnsignedLong(mask, 16) & 1L << 1) != 0);
        }
    }

    @Test
    void whenItIsInterruptedNothingIsLeft() throws Exception {
        List<String> command = new ArrayList<>(RoostProcess.jvm());
        command.add(1, "-Djava.io.tmpdir=" + folder);
        command.addAll(List.of("table-service", "--versions", "1000", "--rows", "100"));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); !line.startsWith("all servers have"); line = lines.readLine()) {
                assertThat(line).isNotNull();
            }
            List<ProcessHandle> children = process.descendants().toList();
            assertThat(children).hasSize(LocalEtcd.program().isPresent() ? 4 : 0);
            boolean ignored = isInterruptIgnored();
            assertThat(new ProcessBuilder("kill", ignored ? "-TERM" : "-INT", Long.toString(process.pid()))
                            .start()
                            .waitFor())
                    .isZero();
            assertThat(process.waitFor()).isEqualTo(ignored ? 143 : 130);
            assertThat(children).noneMatch(ProcessHandle::isAlive);
        } finally {
            process.destroyForcibly();
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left.map(path -> path.getFileName().toString()))
                    .noneMatch(name -> name.startsWith("roost-table-service-"));
        }
    }

    @Test
    void aNodeThatLetsAnybodyInIsRefused() {
        assumeTrue(LocalEtcd.program().isPresent(), "needs etcd: apt-get install etcd-server");
        CommandRun run = CommandRun.of(
                "table-service", "node", "--name=a", "--data=" + folder.resolve("a"), "--listen=0.0.0.0:0");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.complaints())
                .containsExactly(
                        "roost: address must be a loopback address without a certificate and a token, got /0.0.0.0:0");
    }

    @Test
    void aRegistryThatIsNotThereIsNamed() {
        for (List<String> words : List.of(
                List.of("node", "--name=a", "--data=" + folder.resolve("a")), List.of("roll"), List.of("fetch", "1"))) {
            List<String> all = new ArrayList<>(List.of("table-service"));
            all.addAll(words);
            all.add("--registry=http://127.0.0.1:1");
            CommandRun run = CommandRun.of(all.toArray());
            assertThat(run.status()).isEqualTo(1);
            assertThat(run.complaints())
                    .singleElement()
                    .asString()
                    .startsWith("roost: the registry at [http://127.0.0.1:1] does not answer");
        }
    }
}
