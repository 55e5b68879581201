package io.github.roost.bench.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.bench.ClientThreads;
import io.github.roost.bench.lucene.LuceneContenders.Contender;
import io.github.roost.bench.lucene.LuceneContenders.Outcome;
import io.github.roost.bench.lucene.LuceneContenders.Workload;
import io.github.roost.testkit.lucene.Packages;
import io.github.roost.topology.TopologyReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("stress")
class LuceneBenchTest {
    @Tag("nightly")
    @Test
    void everyContenderSearchesInEveryRoundAndTheIndexIsGoneAfterwards() throws Exception {
        Path folder;
        try (LuceneContenders bench = new LuceneContenders(
                Packages.FEW,
                4,
                TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())) {
            folder = bench.folder();
            assertThat(folder).isDirectoryContaining("glob:**.vec");
            for (Workload workload : Workload.values()) {
                List<Outcome> outcomes = bench.measure(workload, 8, 2, Duration.ofMillis(20));
                assertThat(outcomes).extracting(Outcome::contender).containsExactly(Contender.values());
                assertThat(outcomes).allSatisfy(outcome -> {
                    assertThat(outcome.perSecond()).hasSize(2).allMatch(rate -> rate > 0);
                    assertThat(outcome.p50us()).hasSize(2).allMatch(micros -> micros > 0);
                    assertThat(outcome.p99us().getFirst())
                            .isGreaterThanOrEqualTo(outcome.p50us().getFirst());
                });
            }
        }
        assertThat(folder).doesNotExist();
    }

    @Tag("program")
    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void theIndexIsGoneAlsoWhereTheProcessIsToldToEnd() throws Exception {
        Process other = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules=jdk.incubator.vector",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ToldToEnd.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader said = other.inputReader()) {
            Path folder = Path.of(String.valueOf(said.readLine()));
            assertThat(folder).isDirectoryContaining("glob:**.vec");
            other.destroy();
            other.waitFor();
            assertThat(folder).doesNotExist();
        } finally {
            other.destroyForcibly();
        }
    }

    /** Says where the index is, and waits. */
    static final class ToldToEnd {
        public static void main(String[] arguments) throws Exception {
            try (LuceneContenders bench = new LuceneContenders(
                    Packages.FEW,
                    2,
                    TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())) {
                System.out.println(bench.folder());
                // Until the test ends, or ends this process.
                System.in.transferTo(OutputStream.nullOutputStream());
            }
        }
    }

    @Test
    void ratiosAreOfTheSameRound() {
        Outcome one =
                new Outcome(Workload.WORDS, Contender.ROOST, List.of(10.0, 30.0, 80.0), List.of(1.0), List.of(1.0));
        Outcome other =
                new Outcome(Workload.WORDS, Contender.FIXED, List.of(10.0, 10.0, 40.0), List.of(1.0), List.of(1.0));
        assertThat(one.times(other).median()).isEqualTo(2);
        assertThat(one.times(other).least()).isEqualTo(1);
        assertThat(one.times(other).most()).isEqualTo(3);
    }

    @Test
    void aSearchThatFailsEndsTheRun() {
        ClientThreads clients = new ClientThreads(3);
        assertThatThrownBy(() -> clients.run(Duration.ofSeconds(1), number -> {
                    throw new IOException("no disk");
                }))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("no disk");
    }
}
