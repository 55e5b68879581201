package io.github.roost.cli;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.bench.OrdinalRows;
import io.github.roost.testkit.ExactSearch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A memory node and a search, each a process of its own, with a pool that both have mapped. */
@Tag("program")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MemoryNodeCommandTest {
    private static final int K = 10;
    private static final int PARTITIONS = 8;

    @TempDir
    Path folder;

    private static float[][] vectors(int rows, long seed) {
        return gaussian(rows, 12, new Random(seed));
    }

    private static ProcessBuilder roost(Object... arguments) {
        List<String> words = new ArrayList<>(RoostProcess.jvm());
        Arrays.stream(arguments).map(Object::toString).forEach(words::add);
        return new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD);
    }

    private Process search(Path pool, Path query, Path out) throws IOException {
        return roost(
                        "search",
                        "remote",
                        "--table",
                        pool,
                        "--query",
                        query,
                        "--k",
                        K,
                        "--visited",
                        PARTITIONS,
                        "--warm-up",
                        0,
                        "--seconds",
                        1,
                        "--out",
                        out,
                        "--json")
                .start();
    }

    @Test
    void aProcessSearchesThePoolThatAnotherProcessServesAndIsRefusedWhenThatWasKilled() throws Exception {
        float[][] rows = vectors(2_000, 1);
        float[][] requested = vectors(50, 2);
        Path base = folder.resolve("b.fvecs");
        Path query = folder.resolve("q.fvecs");
        Path pool = folder.resolve("b.pool");
        Path out = folder.resolve("r.ivecs");
        FloatVectors.write(base, rows);
        FloatVectors.write(query, requested);
        CommandRun build = CommandRun.of("build", "remote", "--base", base, "--out", pool, "--partitions", PARTITIONS);
        assertThat(build.status()).as(build.err()).isZero();
        Process node = roost("memory-node", pool, "--term-millis", 500).start();
        try {
            assertThat(node.inputReader().readLine()).startsWith("serving " + PARTITIONS + " partitions");
            Process search = search(pool, query, out);
            String report = new String(search.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(search.waitFor()).isZero();
            assertThat(new ObjectMapper().readTree(report).get("queries").asInt())
                    .isEqualTo(requested.length);
            int[][] exact = Arrays.stream(new ExactSearch(rows).searchAll(requested, K))
                    .map(row ->
                            Arrays.stream(row.ids()).mapToInt(Math::toIntExact).toArray())
                    .toArray(int[][]::new);
            assertThat(OrdinalRows.readTruth(out, requested.length, K, rows.length))
                    .isDeepEqualTo(exact);
            node.destroyForcibly().waitFor();
            // The file is still there, but nobody serves it.
            Files.delete(out);
            Process refused = search(pool, query, out);
            refused.getInputStream().readAllBytes();
            assertThat(refused.waitFor()).isNotZero();
            assertThat(out).doesNotExist();
        } finally {
            node.destroyForcibly().waitFor();
        }
    }
}
