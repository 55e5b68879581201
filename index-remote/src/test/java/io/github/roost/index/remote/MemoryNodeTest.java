package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.testkit.Await;
import io.github.roost.testkit.ChildJvm;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class MemoryNodeTest {
    private static final int K = 5;
    private static final Duration TERM = Duration.ofMillis(400);

    @TempDir
    private static Path folder;

    private static Orchestrator orchestrator;
    private static float[][] rows;

    @BeforeAll
    static void build() throws IOException {
        orchestrator = Pools.orchestrator();
        rows = Pools.rows(1_000, 3);
        Pools.build(orchestrator, PartitionedIndex.builder().partitions(6), rows, folder.resolve("served.pool"));
    }

    @AfterAll
    static void close() {
        orchestrator.close();
    }

    /** Serves a pool in a process of its own, until it is killed. */
    static final class Node {
        public static void main(String[] arguments) throws Exception {
            MemoryNode node = MemoryNode.serve(Path.of(arguments[0]), TERM);
            System.out.println("serving " + node.partitions());
            Thread.currentThread().join();
        }
    }

    private static Process node() throws IOException {
        Process node = new ChildJvm(Node.class)
                .with("--add-modules=jdk.incubator.vector", "-XX:TieredStopAtLevel=1")
                .startQuietly(folder.resolve("served.pool").toString());
        assertThat(node.inputReader().readLine()).isEqualTo("serving 6");
        return node;
    }

    @Test
    void theRootIsNoPool() {
        assertThatThrownBy(() -> MemoryNode.serve(Path.of("/"), TERM))
                .isInstanceOf(RemoteMemoryException.class)
                .hasMessage("/ is not a file");
    }

    private static RemoteTable open(RemoteTable.Builder options) throws IOException {
        return options.open(orchestrator, "served", RemoteMemory.mapped(folder), "served.pool");
    }

    private static void signal(Process node, String signal) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(node.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Searches until one fails: the mapped file alone would answer for ever. */
    private static void searchUntilLost(RemoteTable table) {
        assertThatThrownBy(() -> {
                    while (true) {
                        assertThat(table.search(rows[7], K, 6).join().ids()[0]).isEqualTo(14);
                    }
                })
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(RemoteMemoryException.NodeLostException.class)
                .hasMessageContaining("where one must come every 400 ms");
    }

    @Test
    @Tag("program")
    @Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aNodeThatIsKilledOrStoppedIsLostWithinItsTermAndFoundAgain() throws Exception {
        Process first = node();
        try (RemoteTable table = open(RemoteTable.builder());
                RemoteTable partial = open(RemoteTable.builder().partialAnswers(true))) {
            SearchRequest request = SearchRequest.of(rows[7], K).effort(6);
            assertThat(table.search(rows[7], K, 6).join().ids()[0]).isEqualTo(14);
            assertThat(partial.search(request).join().cost().missingPartitions())
                    .isZero();
            signal(first, "STOP");
            searchUntilLost(table);
            // The last beat that this table has seen may be younger: it needs a term of its own.
            SearchResult answer = partial.search(request).join();
            while (answer.cost().missingPartitions() < 6) {
                answer = partial.search(request).join();
            }
            // All partitions are in the cache: they answer, and the answer says that nobody knows what has changed.
            assertThat(answer.ids()[0]).isEqualTo(14);
            assertThat(answer.cutShort()).isTrue();
            signal(first, "CONT");
            awaitAnswer(table);
            first.destroyForcibly().waitFor();
            searchUntilLost(table);
            Process second = node();
            try {
                awaitAnswer(table);
            } finally {
                second.destroyForcibly().waitFor();
            }
        } finally {
            first.destroyForcibly().waitFor();
        }
    }

    private static void awaitAnswer(RemoteTable table) {
        Await.until(() -> {
            try {
                assertThat(table.search(rows[7], K, 6).join().ids()[0]).isEqualTo(14);
                return true;
            } catch (CompletionException lost) {
                assertThat(lost).hasCauseInstanceOf(RemoteMemoryException.NodeLostException.class);
                return false;
            }
        });
    }

    @Test
    @Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aNodeWhoseBeatsFailGoesOnWhenTheyCanBeWrittenAgain() throws Exception {
        Path file = folder.resolve("beats.pool");
        Files.copy(folder.resolve("served.pool"), file);
        SteppedMemory memory = new SteppedMemory(RemoteMemory.mapped(folder));
        try (MemoryNode node = MemoryNode.serve(file, Duration.ofMillis(20), memory);
                OpenPool pool = OpenPool.open(RemoteMemory.mapped(folder).open("beats.pool"), TERM)) {
            assertThat(node.partitions()).isEqualTo(6);
            CountDownLatch failed = new CountDownLatch(3);
            memory.beforeEachRead(transfers -> {
                failed.countDown();
                return CompletableFuture.failedFuture(new RemoteMemoryException("beats.pool", "is unplugged"));
            });
            failed.await();
            memory.beforeEachRead(transfers -> CompletableFuture.completedFuture(null));
            long stood = pool.word(PoolHead.HEARTBEAT_AT);
            Await.until(() -> pool.word(PoolHead.HEARTBEAT_AT) != stood);
        }
    }

    @Test
    void onePoolHasOneNodeAndWhatIsNoPoolHasNone() throws Exception {
        Path file = folder.resolve("one.pool");
        Files.copy(folder.resolve("served.pool"), file);
        try (MemoryNode node = MemoryNode.serve(file, TERM)) {
            assertThat(node.bytes()).isEqualTo(Files.size(file));
            // A table of the node's process comes and goes.
            RemoteMemory.mapped(folder).open("one.pool").close();
            assertThatThrownBy(() -> MemoryNode.serve(file, TERM))
                    .isInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("is served by another node");
        }
        MemoryNode again = MemoryNode.serve(file, TERM);
        Thread.currentThread().interrupt();
        again.close();
        assertThat(Thread.interrupted()).isTrue();
        again.close();
        // Nothing has it any more.
        WholeFile.replace(
                file, channel -> Files.copy(folder.resolve("served.pool"), Channels.newOutputStream(channel)));
        Path other = folder.resolve("other");
        Files.write(other, new byte[5_000]);
        assertThatThrownBy(() -> MemoryNode.serve(other, TERM)).hasMessageContaining("is not a pool of remote memory");
        Files.write(other, new byte[50]);
        assertThatThrownBy(() -> MemoryNode.serve(other, TERM)).hasMessageContaining("less than a pool's head");
        assertThatThrownBy(() -> MemoryNode.serve(file, Duration.ofMillis(1)))
                .hasMessage("term in milliseconds must be between 20 and 3,600,000, got 1");
    }
}
