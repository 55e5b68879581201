package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two nodes of one pool: how they begin, that writers exclude each other, what is refused, and how tables go on. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MirroredMemoryTest {
    private static final int ROWS = 300;
    private static final int PARTITIONS = 5;
    private static final long ID = 9_000;
    private static final String FIRST = "first.pool";
    private static final String SECOND = "second.pool";

    @TempDir
    private static Path folder;

    private static Orchestrator orchestrator;
    private static float[][] rows;
    private static float[][] others;

    private final RemoteMemory plain = RemoteMemory.mapped(folder);
    private final TwoNodes nodes = new TwoNodes(plain, plain);

    @BeforeAll
    static void build() throws IOException {
        orchestrator = Pools.orchestrator();
        rows = Pools.rows(ROWS, 1);
        others = Pools.rows(200, 2);
        Pools.buildSmall(orchestrator, PARTITIONS, folder.resolve("built.pool"));
    }

    @AfterAll
    static void close() {
        orchestrator.close();
    }

    @BeforeEach
    void fresh() throws IOException {
        copy("built.pool", FIRST);
        copy("built.pool", SECOND);
    }

    private static void copy(String from, String to) throws IOException {
        Files.copy(folder.resolve(from), folder.resolve(to), StandardCopyOption.REPLACE_EXISTING);
    }

    private RemoteMemory both() {
        return RemoteTable.mirrored(nodes.first(), nodes.second(), SECOND);
    }

    private static MutableRemoteTable open(RemoteMemory memory, String region) throws IOException {
        return RemoteTable.builder().ef(300).open(orchestrator, region, memory, region);
    }

    private MutableRemoteTable openBoth() throws IOException {
        return open(both(), FIRST);
    }

    private static long nearest(RemoteTable table, float[] query) {
        return table.search(query, 1, PARTITIONS).join().ids()[0];
    }

    @Test
    void eachNodeAloneHasWhatBothWereGiven() throws IOException {
        try (MutableRemoteTable table = openBoth()) {
            assertThat(table.put(ID, others[0])).isTrue();
            assertThat(table.remove(0)).isTrue();
            assertThat(table.rebuild(table.partitionsOf(others[0], 1)[0])).isTrue();
            assertThat(table.put(ID + 1, others[1])).isTrue();
        }
        for (String region : List.of(FIRST, SECOND)) {
            try (MutableRemoteTable alone = open(plain, region)) {
                assertThat(nearest(alone, others[0])).isEqualTo(ID);
                assertThat(alone.vector(ID + 1)).isEqualTo(others[1]);
                assertThat(alone.vector(0)).isNull();
                assertThat(alone.size()).isEqualTo(ROWS + 1);
                alone.verify();
            }
        }
    }

    @Test
    void aSavedCopyOfAChangedPoolBecomesTheReplicaOnEitherSide() throws IOException {
        try (MutableRemoteTable table = open(plain, FIRST)) {
            table.put(ID, others[0]);
            table.save(folder.resolve("saved.pool"));
        }
        copy("saved.pool", SECOND);
        try (MutableRemoteTable table = openBoth()) {
            assertThat(table.put(ID + 1, others[1])).isTrue();
            table.save(folder.resolve("saved.pool"));
        }
        copy("saved.pool", FIRST);
        try (MutableRemoteTable table = openBoth()) {
            assertThat(table.put(ID + 2, others[2])).isTrue();
        }
        try (RemoteTable second = RemoteTable.builder().openReadOnly(orchestrator, "second", plain, SECOND)) {
            assertThat(second.vector(ID + 2)).isEqualTo(others[2]);
            assertThat(second.vector(ID)).isEqualTo(others[0]);
        }
    }

    @Test
    void poolsThatAreNotTheSameAreRefusedAndStayAsTheyAre() throws IOException {
        try (MutableRemoteTable table = open(plain, FIRST)) {
            table.put(ID, others[0]);
        }
        assertThatThrownBy(this::openBoth)
                .isInstanceOf(RemoteMemoryException.class)
                .hasMessageContaining("second.pool is not the same pool as")
                .hasMessageContaining("they differ in their rows: 301 and 300; replace one by a copy of the other");
        try (MutableRemoteTable table = open(plain, SECOND)) {
            // As many rows in logs of the same lengths.
            table.put(ID, near(others[0]));
        }
        assertThatThrownBy(this::openBoth).hasMessageContaining("they differ in the byte at ");
        Pools.buildSmall(orchestrator, PARTITIONS + 1, folder.resolve("other.pool"));
        copy("other.pool", SECOND);
        assertThatThrownBy(this::openBoth).hasMessageContaining("they differ in their heads");
        assertThatThrownBy(() -> open(RemoteTable.mirrored(plain, plain, FIRST), FIRST))
                .hasMessageContaining("cannot be its own replica");
        for (String region : List.of(FIRST, SECOND)) {
            try (MutableRemoteTable table = open(plain, region)) {
                table.put(ID + 1, others[1]);
            }
        }
    }

    private static float[] near(float[] vector) {
        float[] near = vector.clone();
        near[0] += .001f;
        return near;
    }

    @Test
    void aFileThatWasReplacedByAnOlderOneIsRefusedByOneChange() throws IOException {
        openBoth().close();
        copy(SECOND, "backup.pool");
        try (MutableRemoteTable table = openBoth()) {
            table.put(0, near(rows[0]));
        }
        copy("backup.pool", SECOND);
        assertThatThrownBy(this::openBoth)
                .isInstanceOf(RemoteMemoryException.class)
                .hasMessageContaining("second.pool is not the same pool as");
    }

    @Test
    void aWriterThatHasOnlyOneNodeIsRefused() throws IOException {
        try (MutableRemoteTable early = open(plain, FIRST)) {
            assertThat(early.put(ID, others[0])).isTrue();
            copy(FIRST, SECOND);
            try (MutableRemoteTable table = openBoth();
                    MutableRemoteTable second = open(plain, SECOND)) {
                for (MutableRemoteTable one : List.of(early, second)) {
                    assertThatThrownBy(() -> one.put(ID + 1, others[1]))
                            .isInstanceOf(UncheckedIOException.class)
                            .hasMessageContaining("is mirrored: it is changed together with its other node");
                    assertThat(nearest(one, others[0])).isEqualTo(ID);
                }
                assertThat(table.put(ID + 1, others[1])).isTrue();
                assertThat(early.vector(ID + 1)).isEqualTo(others[1]);
                assertThat(second.vector(ID + 1)).isEqualTo(others[1]);
            }
        }
    }

    @Test
    void onceANodeIsLostChangesAreRefusedUntilTheOtherIsOpenedAlone() throws IOException {
        for (int lost : new int[] {0, 1}) {
            fresh();
            TwoNodes losing = new TwoNodes(plain, plain);
            try (MutableRemoteTable table = open(RemoteTable.mirrored(losing.first(), losing.second(), SECOND), FIRST);
                    MutableRemoteTable other = openBoth()) {
                assertThat(table.put(ID, others[0])).isTrue();
                losing.lose(lost);
                for (int i = 0; i < 3; i++) {
                    assertThatThrownBy(() -> table.put(ID + 1, others[1])).isInstanceOf(UncheckedIOException.class);
                }
                assertThatThrownBy(() -> table.put(ID + 1, others[1]))
                        .hasMessageContaining("takes no changes, as one of its two nodes is lost");
                assertThat(nearest(table, others[0])).isEqualTo(ID);
                // That node is lost to one process alone: the other one goes on with both.
                assertThat(other.put(ID + 2, others[2])).isTrue();
                assertThat(nearest(table, others[2])).isEqualTo(ID + 2);
                String left = lost == 0 ? SECOND : FIRST;
                try (MutableRemoteTable alone = open(RemoteTable.alone(plain), left)) {
                    assertThat(alone.put(ID + 3, others[3])).isTrue();
                    for (int i = 0; i < 2; i++) {
                        assertThatThrownBy(() -> other.put(ID + 4, others[4]))
                                .isInstanceOf(UncheckedIOException.class)
                                .hasMessageContaining("takes no changes, as one of its two nodes is lost");
                    }
                    // What reads both goes to the one that was opened alone.
                    assertThat(nearest(other, others[3])).isEqualTo(ID + 3);
                    assertThat(nearest(table, others[3])).isEqualTo(ID + 3);
                    assertThat(alone.put(ID + 5, others[5])).isTrue();
                }
                assertThatThrownBy(this::openBoth).hasMessageContaining("is not the same pool as");
            }
        }
    }

    @Test
    void searchesGoOnWhileTheFirstNodeIsLost() throws Exception {
        Map<Long, float[]> model = new TreeMap<>();
        for (int i = 0; i < ROWS; i++) {
            model.put(2L * i, rows[i]);
        }
        openBoth().close();
        // A cache that has not room for all: partitions are fetched again and again.
        try (RemoteTable table = RemoteTable.builder()
                .ef(300)
                .cacheBytes(Pools.partitionBytes(folder.resolve(FIRST)))
                .openReadOnly(orchestrator, "reader", both(), FIRST)) {
            List<CompletableFuture<Void>> searching = new ArrayList<>();
            for (int thread = 0; thread < 3; thread++) {
                int seed = thread;
                searching.add(CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i < 60; i++) {
                                float[] query = others[seed * 60 + i];
                                assertThat(table.search(query, 5, PARTITIONS)
                                                .join()
                                                .ids())
                                        .isEqualTo(ExactSearch.exact(model, query, 5, Metric.SQUARED_L2)
                                                .ids());
                                if (seed == 0 && i == 20) {
                                    nodes.lose(0);
                                }
                            }
                        },
                        Thread::startVirtualThread));
            }
            searching.forEach(CompletableFuture::join);
            nodes.lose(1);
            assertThatThrownBy(() -> table.search(others[0], 5, PARTITIONS).join())
                    .hasCauseInstanceOf(RemoteMemoryException.class);
        }
    }

    @Test
    void whatAReaderHasSeenDoesNotGoAwayWithTheFirstNode() throws Exception {
        int seen = 0;
        for (int step = 1; step <= 14; step++) {
            fresh();
            CountDownLatch stopped = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            try (MutableRemoteTable writer = openBoth()) {
                writer.put(ID, others[0]);
                nodes.stopBefore(step, () -> {
                    stopped.countDown();
                    await(release);
                });
                CompletableFuture<Void> put = CompletableFuture.runAsync(
                        () -> {
                            writer.put(ID + 1, others[1]);
                            stopped.countDown();
                        },
                        Thread::startVirtualThread);
                await(stopped);
                // The first is read before, as tables read it.
                boolean isSeen = isIn(FIRST);
                seen += isSeen ? 1 : 0;
                if (isSeen) {
                    assertThat(isIn(SECOND)).as("before write %d", step).isTrue();
                }
                release.countDown();
                put.join();
            }
        }
        assertThat(seen).isBetween(1, 13);
    }

    private boolean isIn(String region) throws IOException {
        try (RemoteTable alone = RemoteTable.builder().openReadOnly(orchestrator, region, plain, region)) {
            return nearest(alone, others[1]) == ID + 1;
        }
    }

    @Test
    void aWordThatLagsIsBroughtAlongByTheNextCompareAndSet() throws Exception {
        try (RemoteMemory.Region both = both().open(FIRST);
                RemoteMemory.Region first = plain.open(FIRST);
                RemoteMemory.Region second = plain.open(SECOND)) {
            long at = PoolHead.LOST_AT;
            // Processes have died before the first had 1 and 2.
            second.compareAndSet(at, 0, 2).join();
            assertThat(both.compareAndSet(at, 2, 3).join()).isEqualTo(2);
            assertThat(List.of(word(first, at), word(second, at))).containsExactly(3L, 3L);
            second.compareAndSet(at, 3, 4).join();
            assertThat(both.compareAndSet(at, 3, 5).join()).isEqualTo(4);
            assertThat(List.of(word(first, at), word(second, at))).containsExactly(4L, 4L);
            second.compareAndSet(at, 4, 6).join();
            assertThat(both.compareAndSet(at, 5, 7).join()).isEqualTo(6);
            assertThat(List.of(word(first, at), word(second, at))).containsExactly(6L, 6L);
        }
    }

    @Test
    void aWordThatALostWriterLeftBehindIsBroughtAlongWithoutItsLease() throws Exception {
        openBoth().close();
        for (int pair = 0; pair < 2; pair++) {
            long tails = PoolHead.tailsAt(pair, 0);
            try (RemoteMemory.Region first = plain.open(FIRST);
                    RemoteMemory.Region second = plain.open(SECOND)) {
                long lease = word(first, PoolHead.LEASE_AT) | 1;
                for (RemoteMemory.Region node : List.of(second, first)) {
                    long free = word(node, PoolHead.LEASE_AT);
                    node.compareAndSet(PoolHead.LEASE_AT, free, lease).join();
                }
                long before = word(second, tails);
                long after = LogTails.of(before).fenced().word();
                second.compareAndSet(tails, before, after).join();
                // Several at once: none waits for another's lease.
                List<CompletableFuture<Void>> opening = new ArrayList<>();
                for (int i = 0; i < 6; i++) {
                    opening.add(CompletableFuture.runAsync(
                            () -> {
                                try (RemoteMemory.Region both = both().open(FIRST)) {
                                    assertThat(both.isWritable()).isTrue();
                                } catch (IOException failed) {
                                    throw new UncheckedIOException(failed);
                                }
                            },
                            Thread::startVirtualThread));
                }
                opening.forEach(CompletableFuture::join);
                assertThat(word(first, tails)).isEqualTo(after);
                assertThat(word(first, PoolHead.LEASE_AT)).isEqualTo(lease);
            }
        }
        try (MutableRemoteTable table = openBoth()) {
            assertThat(table.put(ID, others[0])).isTrue();
        }
    }

    @Test
    void anOlderFileIsRefusedBeforeAnythingIsChanged() throws IOException {
        openBoth().close();
        copy(SECOND, "backup.pool");
        try (MutableRemoteTable table = openBoth()) {
            table.put(0, near(rows[0]));
        }
        copy("backup.pool", SECOND);
        List<byte[]> before = bytesOfBoth();
        assertThatThrownBy(() -> both().open(FIRST)).hasMessageContaining("is not the same pool as");
        List<byte[]> after = bytesOfBoth();
        for (int node = 0; node < 2; node++) {
            assertThat(after.get(node)).isEqualTo(before.get(node));
        }
    }

    private static List<byte[]> bytesOfBoth() throws IOException {
        return List.of(Files.readAllBytes(folder.resolve(FIRST)), Files.readAllBytes(folder.resolve(SECOND)));
    }

    @Test
    void whatIsNoPoolIsNotWrittenTo() throws IOException {
        byte[] bytes = new byte[2 * PoolHead.BYTES];
        new Random(3).nextBytes(bytes);
        Path file = Files.write(folder.resolve("base.fvecs"), bytes);
        assertThatThrownBy(() -> RemoteTable.alone(plain).open("base.fvecs")).isInstanceOf(RemoteMemoryException.class);
        assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
    }

    @Test
    void aCopyOfOneNodeFailsIfTheTableIsRebuiltMeanwhile() throws Exception {
        try (MutableRemoteTable table = openBoth()) {
            AtomicBoolean isCopying = new AtomicBoolean();
            RemoteMemory rebuilding = new DelegatingMemory(plain) {
                @Override
                RemoteMemory.Region changed(RemoteMemory.Region region) {
                    return new Delegating(region) {
                        @Override
                        public CompletableFuture<Void> get(List<Transfer> transfers) {
                            boolean isOfPartitions = transfers.getFirst().offset() >= PoolHead.pairsEnd(PARTITIONS);
                            if (isOfPartitions && isCopying.compareAndSet(true, false)) {
                                for (int i = 0; i < PARTITIONS; i++) {
                                    table.rebuild(i);
                                }
                            }
                            return super.get(transfers);
                        }
                    };
                }
            };
            try (RemoteTable alone = RemoteTable.builder().openReadOnly(orchestrator, "alone", rebuilding, SECOND)) {
                Path copy = folder.resolve("copy.pool");
                isCopying.set(true);
                assertThatThrownBy(() -> alone.save(copy))
                        .isInstanceOf(RemoteMemoryException.class)
                        .hasMessageContaining("was rebuilt while it was copied");
                assertThat(copy).doesNotExist();
                alone.save(copy);
                try (RemoteTable copied =
                        RemoteTable.builder().openReadOnly(orchestrator, "copied", plain, "copy.pool")) {
                    copied.verify();
                }
            }
        }
    }

    private static long word(RemoteMemory.Region region, long at) {
        MemorySegment word = Arena.ofAuto().allocate(8, 8);
        region.get(List.of(new RemoteMemory.Region.Transfer(at, word))).join();
        return word.get(ValueLayout.JAVA_LONG, 0);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @SuppressWarnings("try") // closed early on purpose
    void theHeartbeatsOfBothNodesCount() throws Exception {
        Duration term = Duration.ofMillis(200);
        for (String first : List.of(FIRST, SECOND)) {
            fresh();
            String other = first.equals(FIRST) ? SECOND : FIRST;
            try (MemoryNode one = MemoryNode.serve(folder.resolve(first), term);
                    MemoryNode two = MemoryNode.serve(folder.resolve(other), term);
                    MutableRemoteTable table = openBoth()) {
                assertThat(table.put(ID, others[0])).isTrue();
                one.close();
                assertRefusedInTheEnd(table);
                assertThat(nearest(table, others[0])).isEqualTo(ID);
                two.close();
                assertThatThrownBy(() -> {
                            while (true) {
                                nearest(table, others[0]);
                            }
                        })
                        .isInstanceOf(CompletionException.class)
                        .hasCauseInstanceOf(RemoteMemoryException.NodeLostException.class);
            }
        }
    }

    private static void assertRefusedInTheEnd(MutableRemoteTable table) {
        assertThatThrownBy(() -> {
                    while (true) {
                        table.put(ID, others[0]);
                    }
                })
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("takes no changes")
                .hasRootCauseInstanceOf(RemoteMemoryException.NodeLostException.class);
    }

    @Test
    void writersOfSeveralProcessesTakeTurnsOnBothNodes() throws Exception {
        List<CompletableFuture<Void>> writing = new ArrayList<>();
        List<MutableRemoteTable> tables = new ArrayList<>();
        try {
            for (int writer = 0; writer < 3; writer++) {
                MutableRemoteTable table = openBoth();
                tables.add(table);
                int number = writer;
                writing.add(CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i < 25; i++) {
                                // Rows of its own, and one that all replace.
                                assertThat(table.put(ID + 100L * number + i, others[25 * number + i]))
                                        .isTrue();
                                table.put(ID - 1, others[100 + 25 * number + i]);
                            }
                        },
                        Thread::startVirtualThread));
            }
            writing.forEach(CompletableFuture::join);
        } finally {
            tables.forEach(MutableRemoteTable::close);
        }
        float[] replaced = null;
        for (String region : List.of(FIRST, SECOND)) {
            try (RemoteTable alone = RemoteTable.builder().openReadOnly(orchestrator, region, plain, region)) {
                for (int i = 0; i < 75; i++) {
                    assertThat(alone.vector(ID + i / 25 * 100L + i % 25)).isEqualTo(others[i]);
                }
                assertThat(alone.size()).isEqualTo(ROWS + 76);
                float[] found = alone.vector(ID - 1);
                assertThat(found).isNotNull();
                assertThat(replaced == null ? found : replaced).isEqualTo(found);
                replaced = found;
            }
        }
    }

    @Test
    void compareAndSetsOfSeveralProcessesAreAtomicOnBothNodesTogether() throws Exception {
        openBoth().close();
        List<RemoteMemory.Region> regions = new ArrayList<>();
        List<CompletableFuture<Void>> counting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            regions.add(both().open(FIRST));
        }
        for (RemoteMemory.Region region : regions) {
            counting.add(CompletableFuture.runAsync(() -> {
                long known = 0;
                for (int i = 0; i < 400; i++) {
                    long found = region.compareAndSet(PoolHead.LOST_AT, known, known + 1)
                            .join();
                    while (found != known) {
                        known = found;
                        found = region.compareAndSet(PoolHead.LOST_AT, known, known + 1)
                                .join();
                    }
                    known++;
                }
            }));
        }
        counting.forEach(CompletableFuture::join);
        regions.forEach(RemoteMemory.Region::close);
        for (String name : List.of(FIRST, SECOND)) {
            try (RemoteMemory.Region region = plain.open(name)) {
                assertThat(word(region, PoolHead.LOST_AT)).isEqualTo(1_200);
            }
        }
    }

    @Test
    void whatLiesOutsideIsRefusedWithoutTheLossOfANode() throws Exception {
        try (RemoteMemory.Region region = both().open(FIRST)) {
            long bytes = region.bytes();
            MemorySegment word = Arena.ofAuto().allocate(8, 8);
            for (long wrong : new long[] {-8, bytes - 4, bytes, Long.MAX_VALUE - 7}) {
                List<RemoteMemory.Region.Transfer> piece = List.of(new RemoteMemory.Region.Transfer(wrong, word));
                String message = "has " + bytes + " bytes, asked for 8 at " + wrong;
                assertThatThrownBy(() -> region.get(piece).join()).hasMessageContaining(message);
                assertThatThrownBy(() -> region.put(piece).join()).hasMessageContaining(message);
                assertThatThrownBy(() -> region.compareAndSet(wrong, 0, 1).join())
                        .hasMessageContaining(message);
            }
            assertThat(region.compareAndSet(PoolHead.LOST_AT, 0, 1).join()).isZero();
        }
    }

    @Test
    void nodesThatMayOnlyBeReadAreSearchedOnceTheyAreMirrored() throws IOException {
        RemoteMemory readOnly = new ReadOnlyMemory(plain);
        RemoteMemory memory = RemoteTable.mirrored(readOnly, readOnly, SECOND);
        assertThatThrownBy(() -> RemoteTable.builder().openReadOnly(orchestrator, "reader", memory, FIRST))
                .hasMessageContaining("is read-only, and not mirrored yet");
        openBoth().close();
        try (RemoteTable table = RemoteTable.builder().openReadOnly(orchestrator, "reader", memory, FIRST)) {
            assertThat(nearest(table, rows[1])).isEqualTo(2);
        }
    }
}
