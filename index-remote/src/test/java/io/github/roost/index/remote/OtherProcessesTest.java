package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Writers, readers and a memory node in processes of their own, killed and stopped. */
@Tag("program")
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OtherProcessesTest {
    private static final int ROWS = 400;
    private static final int PARTITIONS = 5;
    private static final int K = 8;
    private static final String POOL = "shared.pool";

    @TempDir
    private static Path folder;

    private static Orchestrator orchestrator;

    private final List<Process> processes = new ArrayList<>();

    @BeforeAll
    static void build() throws IOException {
        orchestrator = Pools.orchestrator();
        Pools.build(
                orchestrator,
                PartitionedIndex.builder()
                        .partitions(PARTITIONS)
                        .gap(1)
                        .spare(8)
                        .lease(Duration.ofMillis(300)),
                Pools.rows(ROWS, 1),
                folder.resolve("first.pool"));
    }

    @AfterAll
    static void close() {
        orchestrator.close();
    }

    @AfterEach
    void endAll() throws InterruptedException {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    private static float[] vector(long id) {
        return Pools.rows(1, 1_000 + id)[0];
    }

    private static MutableRemoteTable open(Path folder) throws IOException {
        return RemoteTable.builder().ef(300).open(orchestrator, "shared", RemoteMemory.mapped(folder), POOL);
    }

    private Process start(Class<?> main, String... arguments) throws IOException {
        Process process = new ChildJvm(main)
                .with("--add-modules=jdk.incubator.vector", "-XX:TieredStopAtLevel=1")
                .startQuietly(arguments);
        processes.add(process);
        return process;
    }

    private static void signal(Process process, String signal) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Puts rows one after the other, and says of each when it is acknowledged. */
    static final class Writer {
        public static void main(String[] arguments) throws Exception {
            try (Orchestrator here = Pools.orchestrator();
                    MutableRemoteTable table = RemoteTable.builder()
                            .open(here, "writer", RemoteMemory.mapped(Path.of(arguments[0])), POOL)) {
                for (long id = Long.parseLong(arguments[1]); ; ) {
                    try {
                        table.put(id, vector(id));
                        System.out.println(id++);
                    } catch (UncheckedIOException refused) {
                        System.out.println(refused.getMessage());
                    }
                }
            }
        }
    }

    /** Answers a query per line of its input, as many lines as it is sent. */
    static final class Reader {
        public static void main(String[] arguments) throws Exception {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            try (Orchestrator here = Pools.orchestrator();
                    MutableRemoteTable table = RemoteTable.builder()
                            .ef(300)
                            .open(here, "reader", RemoteMemory.mapped(Path.of(arguments[0])), POOL)) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    System.out.println(Arrays.toString(table.search(vector(Long.parseLong(line)), K, PARTITIONS)
                            .join()
                            .ids()));
                }
            }
        }
    }

    /** Looks after the pool until it is killed. */
    static final class Node {
        public static void main(String[] arguments) throws Exception {
            MemoryNode node = MemoryNode.serve(Path.of(arguments[0], POOL), Duration.ofMillis(300));
            System.out.println("serving " + node.partitions());
            Thread.currentThread().join();
        }
    }

    private static void fresh() throws IOException {
        Files.copy(folder.resolve("first.pool"), folder.resolve(POOL), StandardCopyOption.REPLACE_EXISTING);
    }

    /** The acknowledged ids that a process has told of, up to a number of them; a line that is none is left out. */
    private static List<Long> acknowledged(BufferedReader from, int count) throws IOException {
        List<Long> ids = new ArrayList<>();
        for (String line = from.readLine(); line != null; line = from.readLine()) {
            if (line.chars().allMatch(Character::isDigit) && !line.isEmpty()) {
                ids.add(Long.parseLong(line));
            }
            if (ids.size() == count) {
                return ids;
            }
        }
        return ids;
    }

    @Test
    void aWriterThatIsKilledLosesNothingThatItHasAcknowledged() throws Exception {
        fresh();
        Random random = new Random(3);
        long next = 10_000;
        List<Long> all = new ArrayList<>();
        try (MutableRemoteTable table = open(folder)) {
            for (int round = 0; round < 4; round++) {
                Process writer = start(Writer.class, folder.toString(), Long.toString(next));
                // While it writes, or builds a pair anew: that begins after some hundred rows.
                List<Long> told = acknowledged(writer.inputReader(), 20 + random.nextInt(200));
                signal(writer, "KILL");
                told.addAll(acknowledged(writer.inputReader(), Integer.MAX_VALUE));
                all.addAll(told);
                next = told.getLast() + 1;
                for (long id : all) {
                    assertThat(table.vector(id))
                            .as("row %d, round %d", id, round)
                            .isEqualTo(vector(id));
                }
                // What it had begun and not acknowledged may be there or not, and nothing beyond it.
                boolean begun = table.vector(next) != null;
                assertThat(table.vector(next + 1)).isNull();
                // Who writes next takes over, and repairs the count of rows.
                assertThat(table.put(next, vector(next))).isEqualTo(!begun);
                all.add(next++);
                assertThat(table.size()).isEqualTo(ROWS + all.size());
            }
        }
    }

    @Test
    void twoWritersOfWhichOneIsStoppedForLongerThanItsLeaseLoseNothing() throws Exception {
        fresh();
        Process first = start(Writer.class, folder.toString(), "20000");
        Process second = start(Writer.class, folder.toString(), "30000");
        List<Long> ofFirst = acknowledged(first.inputReader(), 20);
        List<Long> ofSecond = acknowledged(second.inputReader(), 20);
        for (int round = 0; round < 4; round++) {
            signal(first, "STOP");
            ofSecond.addAll(acknowledged(second.inputReader(), 40));
            signal(first, "CONT");
            ofFirst.addAll(acknowledged(first.inputReader(), 10));
        }
        signal(first, "KILL");
        signal(second, "KILL");
        ofFirst.addAll(acknowledged(first.inputReader(), Integer.MAX_VALUE));
        ofSecond.addAll(acknowledged(second.inputReader(), Integer.MAX_VALUE));
        try (MutableRemoteTable table = open(folder)) {
            assertThat(table.put(1_000_000, vector(1_000_000))).isTrue();
            for (long id : ofFirst) {
                assertThat(table.vector(id)).as("row %d", id).isEqualTo(vector(id));
            }
            for (long id : ofSecond) {
                assertThat(table.vector(id)).as("row %d", id).isEqualTo(vector(id));
            }
            // Each may have begun one more.
            assertThat(table.size())
                    .isBetween(
                            ROWS + ofFirst.size() + ofSecond.size() + 1, ROWS + ofFirst.size() + ofSecond.size() + 3);
        }
    }

    @Test
    void aReaderThatIsStoppedLosesItsHoldAndFindsWhatIsThereWhenItGoesOn() throws Exception {
        fresh();
        Process reader = start(Reader.class, folder.toString());
        try (MutableRemoteTable table = open(folder)) {
            requireSame(reader, table, 5);
            signal(reader, "STOP");
            // More rebuilds than there is room for beside an epoch that somebody holds.
            for (int i = 0; i < 40; i++) {
                table.put(40_000 + i, vector(40_000 + i));
                assertThat(table.rebuild(i % PARTITIONS)).isTrue();
            }
            signal(reader, "CONT");
            for (int i = 0; i < 40; i++) {
                requireSame(reader, table, 40_000 + i);
            }
            reader.destroyForcibly().waitFor();
            for (int i = 0; i < 40; i++) {
                assertThat(table.rebuild(i % PARTITIONS)).isTrue();
            }
        }
    }

    private static void requireSame(Process reader, MutableRemoteTable table, long query) throws IOException {
        reader.outputWriter().write(query + "\n");
        reader.outputWriter().flush();
        assertThat(reader.inputReader().readLine())
                .isEqualTo(Arrays.toString(
                        table.search(vector(query), K, PARTITIONS).join().ids()));
    }

    @Test
    void withoutItsMemoryNodeNothingIsChangedAndNothingIsAnsweredAsIfItWereThere() throws Exception {
        fresh();
        Process node = start(Node.class, folder.toString());
        assertThat(node.inputReader().readLine()).isEqualTo("serving " + PARTITIONS);
        try (MutableRemoteTable table = open(folder)) {
            assertThat(table.put(50_000, vector(50_000))).isTrue();
            node.destroyForcibly().waitFor();
            long[] next = {50_001};
            assertThatThrownBy(() -> {
                        while (true) {
                            table.put(next[0], vector(next[0]));
                            next[0]++;
                        }
                    })
                    .hasCauseInstanceOf(RemoteMemoryException.NodeLostException.class);
            assertThatThrownBy(() -> table.rebuild(0))
                    .hasCauseInstanceOf(RemoteMemoryException.NodeLostException.class);
            assertThatThrownBy(() -> table.search(vector(50_000), K, 2).join())
                    .hasCauseInstanceOf(RemoteMemoryException.NodeLostException.class);
            Process again = start(Node.class, folder.toString());
            assertThat(again.inputReader().readLine()).isEqualTo("serving " + PARTITIONS);
            for (long id = 50_000; id < next[0]; id++) {
                assertThat(table.vector(id)).isEqualTo(vector(id));
            }
            assertThat(table.vector(next[0])).isNull();
            assertThat(table.remove(50_000)).isTrue();
        }
    }
}
