package io.github.roost.index.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.MemoryNode;
import io.github.roost.index.remote.MutableRemoteTable;
import io.github.roost.index.remote.PartitionedIndex;
import io.github.roost.index.remote.Pools;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.index.remote.format.Bytes;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.testkit.ChildJvm;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node of UCX in a process of its own, killed and stopped; skipped where UCX cannot be loaded. */
@Tag("program")
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UcxProcessesTest {
    private static final int PARTITIONS = 6;
    private static final int ROWS = 6_000;
    private static final int K = 8;
    private static final long TERM_MILLIS = 500;

    @TempDir
    private static Path folder;

    private static Orchestrator orchestrator;
    private static Path pool;
    private static final float[][] QUERIES = Pools.rows(50, 9);

    private final List<Process> processes = new ArrayList<>();

    @BeforeAll
    static void build() throws IOException {
        assumeTrue(
                UcxMemory.unavailable().isEmpty(), () -> UcxMemory.unavailable().orElse(""));
        orchestrator = Pools.orchestrator();
        pool = folder.resolve("some.pool");
        // Space that a killed writer has filled is never used again: beside it there is room for every pair, however
        // blocks lie.
        PartitionedIndex options =
                PartitionedIndex.builder().partitions(PARTITIONS).spare(3);
        Pools.build(orchestrator, options, Pools.rows(ROWS, 1), pool);
    }

    @AfterAll
    static void close() {
        if (orchestrator != null) {
            orchestrator.close();
        }
    }

    @AfterEach
    void endAll() throws InterruptedException {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    /** Looks after a pool and exposes it until it is killed. */
    static final class Node {
        public static void main(String[] arguments) throws Exception {
            MemoryNode node = MemoryNode.serve(Path.of(arguments[0]), Duration.ofMillis(TERM_MILLIS));
            UcxNode exposed = UcxNode.serve(Path.of(node.region()), "ucx://127.0.0.1:0", arguments[1]);
            System.out.println(exposed.address());
            Thread.currentThread().join();
        }
    }

    private record Running(Process process, String address) {}

    private Running start(String transports) throws IOException {
        return start(transports, pool);
    }

    private Running start(String transports, Path file) throws IOException {
        Process process = new ChildJvm(Node.class)
                .with("--add-modules=jdk.incubator.vector", "-XX:TieredStopAtLevel=1")
                .startQuietly(file.toString(), transports);
        processes.add(process);
        String said = process.inputReader().readLine();
        assertThat(said).startsWith("ucx://127.0.0.1:");
        return new Running(process, said);
    }

    /** With room for two partitions: nearly every search fetches. */
    private static MutableRemoteTable open(Running node, String transports, Duration timeout) throws IOException {
        long largest = largest();
        return RemoteTable.builder()
                .cacheBytes(2 * largest)
                .transferTimeout(timeout)
                .open(orchestrator, "over-ucx", new UcxMemory(transports), node.address());
    }

    private static long largest() throws IOException {
        return Pools.partitionBytes(folder.resolve("some.pool")) / 2;
    }

    private static SearchResult[] expected() throws IOException {
        try (MutableRemoteTable table =
                RemoteTable.builder().open(orchestrator, "mapped", RemoteMemory.mapped(folder), "some.pool")) {
            SearchResult[] found = new SearchResult[QUERIES.length];
            for (int i = 0; i < found.length; i++) {
                found[i] = table.search(QUERIES[i], K, 3).join();
            }
            return found;
        }
    }

    private static void signal(Process process, String signal) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "posix"})
    void aNodeThatIsKilledDuringGetsIsLostAndNoAnswerIsShort(String transports) throws Exception {
        Running node = start(transports);
        SearchResult[] expected = expected();
        try (MutableRemoteTable table = open(node, transports, Duration.ofSeconds(30))) {
            CompletableFuture<Void> killed = new CompletableFuture<>();
            List<CompletableFuture<SearchResult>> answers = new ArrayList<>();
            int right = 0;
            Throwable failure = null;
            for (int i = 0; failure == null; i++) {
                answers.clear();
                for (float[] query : QUERIES) {
                    answers.add(table.search(query, K, 3));
                }
                if (i == 3) {
                    node.process().destroyForcibly();
                    killed.complete(null);
                }
                for (int q = 0; q < QUERIES.length; q++) {
                    try {
                        assertThat(answers.get(q).join().ids()).isEqualTo(expected[q].ids());
                        right++;
                    } catch (CompletionException failed) {
                        assertThat(failed.getCause()).isInstanceOf(RemoteMemoryException.NodeLostException.class);
                        failure = failed.getCause();
                    }
                }
            }
            assertThat(killed).isDone();
            assertThat(right).isGreaterThanOrEqualTo(3 * QUERIES.length);
            assertThatThrownBy(() -> table.search(QUERIES[0], K, 3).join())
                    .hasCauseInstanceOf(RemoteMemoryException.NodeLostException.class)
                    .hasMessageContaining(node.address() + " has lost its memory node");
        }
        // A node that is started again is opened anew.
        Running again = start(transports);
        try (MutableRemoteTable table = open(again, transports, Duration.ofSeconds(30))) {
            assertThat(table.search(QUERIES[0], K, 3).join().ids()).isEqualTo(expected[0].ids());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "posix"})
    void aNodeThatIsStoppedFailsSearchesByTheTimeoutAndGoesOnWhenItDoes(String transports) throws Exception {
        Running node = start(transports);
        SearchResult[] expected = expected();
        try (MutableRemoteTable table = open(node, transports, Duration.ofMillis(700))) {
            assertThat(table.search(QUERIES[0], K, 3).join().ids()).isEqualTo(expected[0].ids());
            signal(node.process(), "STOP");
            // Its threads stop when they would run next.
            Throwable failure = null;
            while (failure == null) {
                failure = table.search(QUERIES[1], K, 3)
                        .handle((found, failed) ->
                                failed instanceof CompletionException wrapped ? wrapped.getCause() : failed)
                        .join();
            }
            assertThat(failure).isInstanceOf(RemoteMemoryException.class).hasMessageContaining(node.address());
            signal(node.process(), "CONT");
            // What is late comes first; then the node is there again.
            SearchResult found = null;
            while (found == null) {
                found = table.search(QUERIES[2], K, 3)
                        .exceptionally(late -> null)
                        .join();
            }
            assertThat(found.ids()).isEqualTo(expected[2].ids());
        }
    }

    /** A process that was stopped has done so by then: a get that takes longer waits for it. */
    private static boolean endsWithinASecond(CompletableFuture<Void> transfer) throws Exception {
        try {
            transfer.get(1, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException waiting) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "posix"})
    void aRegionOfANodeThatIsStoppedCanBeClosed(String transports) throws Exception {
        Running node = start(transports);
        CompletableFuture<Void> underWay;
        try (RemoteMemory.Region region = new UcxMemory(transports).open(node.address())) {
            RemoteMemory.Region.Transfer all =
                    new RemoteMemory.Region.Transfer(0, Arena.ofAuto().allocate(region.bytes(), 8));
            region.get(List.of(all)).join();
            signal(node.process(), "STOP");
            do {
                underWay = region.get(List.of(all));
            } while (endsWithinASecond(underWay));
        }
        assertThatThrownBy(underWay::join)
                .hasCauseInstanceOf(RemoteMemoryException.class)
                .hasMessageContaining("is closed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "posix"})
    void aNodeThatIsKilledDuringPutsHasAllThatWasAcknowledged(String transports) throws Exception {
        Path changed = Files.copy(pool, folder.resolve(transports + ".pool"));
        float[][] more = Pools.rows(2_000, 12);
        Running node = start(transports, changed);
        int acknowledged = 0;
        try (MutableRemoteTable table = open(node, transports, Duration.ofSeconds(30))) {
            Throwable failure = null;
            while (failure == null) {
                if (acknowledged == 30) {
                    // It dies while rows are put.
                    node.process().destroyForcibly();
                }
                try {
                    table.put(1_000_000 + acknowledged, more[acknowledged]);
                    acknowledged++;
                } catch (UncheckedIOException lost) {
                    failure = lost.getCause();
                }
            }
            assertThat(failure).isInstanceOf(RemoteMemoryException.NodeLostException.class);
        }
        assertThat(acknowledged).isGreaterThanOrEqualTo(30);
        Running again = start(transports, changed);
        try (MutableRemoteTable table = open(again, transports, Duration.ofSeconds(30))) {
            for (int i = 0; i < acknowledged; i++) {
                assertThat(table.vector(1_000_000 + i)).as("row %d", i).isEqualTo(more[i]);
            }
            assertThat(table.put(2_000_000, more[0])).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "posix"})
    void aNodeThatIsKilledWhileAPairIsBuiltAnewHasAnEpochThatIsWhole(String transports) throws Exception {
        Path changed = Files.copy(pool, folder.resolve("rebuilt-" + transports + ".pool"));
        float[][] more = Pools.rows(20, 12);
        Running node = start(transports, changed);
        CompletableFuture<Integer> rebuilds = new CompletableFuture<>();
        try (MutableRemoteTable table = open(node, transports, Duration.ofSeconds(30));
                RemoteMemory.Region mapped =
                        RemoteMemory.mapped(folder).open(changed.getFileName().toString())) {
            for (int i = 0; i < more.length; i++) {
                table.put(1_000_000 + i, more[i]);
            }
            assertThat(table.rebuild(0)).isTrue();
            Thread.ofPlatform().start(() -> {
                try {
                    for (int done = 0; ; done++) {
                        table.rebuild(done % PARTITIONS);
                    }
                } catch (Throwable failed) {
                    rebuilds.completeExceptionally(failed);
                }
            });
            // It dies while the table writes to the space that it has set out to fill.
            while (!isBeingFilled(mapped)) {
                Thread.onSpinWait();
            }
            node.process().destroyForcibly();
            assertThatThrownBy(rebuilds::join)
                    .hasRootCauseInstanceOf(RemoteMemoryException.NodeLostException.class)
                    .hasMessageContaining(node.address());
            assertThatThrownBy(() -> table.search(QUERIES[0], K, PARTITIONS).join())
                    .hasCauseInstanceOf(RemoteMemoryException.NodeLostException.class);
        }
        Running again = start(transports, changed);
        try (MutableRemoteTable table = open(again, transports, Duration.ofSeconds(30))) {
            assertThat(table.size()).isEqualTo(ROWS + more.length);
            for (int i = 0; i < more.length; i++) {
                assertThat(table.vector(1_000_000 + i)).as("row %d", i).isEqualTo(more[i]);
            }
            float[][] first = Pools.rows(ROWS, 1);
            for (int row = 0; row < ROWS; row += 97) {
                assertThat(table.vector(2L * row)).isEqualTo(first[row]);
            }
            for (int partition = 0; partition < PARTITIONS; partition++) {
                assertThat(table.rebuild(partition)).isTrue();
            }
        }
    }

    private static boolean isBeingFilled(RemoteMemory.Region region) {
        MemorySegment word = Arena.ofAuto().allocate(Long.BYTES, 8);
        region.get(List.of(new RemoteMemory.Region.Transfer(PoolHead.RESERVATION_AT, word)))
                .join();
        return word.get(Bytes.LONG, 0) != 0;
    }
}
