package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.testkit.Asking;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.BufferedReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables that have filled the memory that the JVM grants them, each in a JVM of its own. */
@Tag("program")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MemoryLimitTest {
    @ParameterizedTest
    @CsvSource({
        "CODED_FLOATS, ''",
        "HALVES, -Droost.ivf.kernel=java",
        "BOTH, ''",
    })
    void aFullTableRefusesRowsAndAnswersSearches(Kept kept, String option) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "--enable-native-access=ALL-UNNAMED",
                "--add-modules=jdk.incubator.vector",
                "-Xmx128m",
                "-XX:MaxDirectMemorySize=8m",
                "-cp",
                System.getProperty("java.class.path")));
        if (!option.isEmpty()) {
            command.add(option);
        }
        command.addAll(List.of(FullTable.class.getName(), kept.name()));
        Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines;
        try (BufferedReader output = child.inputReader()) {
            lines = output.lines().toList();
        }
        assertThat(child.waitFor()).as(String.join("\n", lines)).isZero();
        assertThat(lines)
                .anySatisfy(line -> assertThat(line)
                        .contains(
                                "no memory for",
                                "-XX:MaxDirectMemorySize",
                                "which is as much as -Xmx where it is not set"))
                .contains("answered 400 of 400");
    }

    /** What the JVM of its own runs. */
    static final class FullTable {
        private static final int DIMENSION = 64;
        private static final int NLIST = 128;

        private FullTable() {}

        public static void main(String[] kept) {
            Orchestrator orchestrator = Orchestrator.builder()
                    .topology(
                            TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                    .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(60)))
                    .build();
            Random random = new Random(1);
            float[][] rows = new float[1_000][];
            Arrays.setAll(rows, i -> WholeNumbers.vector(DIMENSION, random));
            IvfTable table = Kept.valueOf(kept[0]).builder().nlist(NLIST).build(orchestrator, rows);
            fill(table, rows);
            int size = table.size();
            int answered = 0;
            for (int i = 0; i < 100; i++) {
                float[] query = rows[i];
                for (CompletableFuture<SearchResult> answer : List.of(
                        table.search(query, 5),
                        table.search(query, 100, NLIST),
                        table.search(SearchRequest.of(query, 5).effort(40).filter(IdFilter.of(id -> id % 3 == 0))),
                        Asking.all(table, List.of(query, query), 5, 20).getLast())) {
                    answered += answer.join().size() > 0 ? 1 : 0;
                }
            }
            System.out.println("answered " + answered + " of 400");
            if (table.size() != size || !table.remove(0) || table.size() != size - 1) {
                throw new IllegalStateException("the table has changed by itself");
            }
            // Without close: it would wait for maintenance.
            Runtime.getRuntime().halt(0);
        }

        private static void fill(IvfTable table, float[][] rows) {
            long next = rows.length;
            // Many at a time, and then few, which are left in the buffer.
            for (int together : new int[] {500, 20, 1}) {
                try {
                    while (true) {
                        long first = next;
                        long[] ids = new long[together];
                        Arrays.setAll(ids, i -> first + i);
                        table.add(ids, Arrays.copyOf(rows, together));
                        next += together;
                    }
                } catch (OutOfMemoryError full) {
                    System.out.println(full.getMessage());
                    if (table.size() != next) {
                        throw new IllegalStateException(table.size() + " rows, not " + next, full);
                    }
                }
            }
        }
    }
}
