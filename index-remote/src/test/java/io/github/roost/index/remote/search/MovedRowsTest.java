package io.github.roost.index.remote.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.MutableRemoteTable;
import io.github.roost.index.remote.Pools;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.index.remote.SteppedMemory;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.PartitionLog;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A row moves from one partition to another while a search has looked at the new one and not yet at the old one. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MovedRowsTest {
    private static final int PARTITIONS = 6;
    private static final long ID = 9_000;
    private static final String POOL = "moved.pool";

    @TempDir
    private static Path folder;

    private static Orchestrator orchestrator;
    private static float[][] vectors;

    private final SteppedMemory stepped = new SteppedMemory(RemoteMemory.mapped(folder));
    private MutableRemoteTable reader;
    private MutableRemoteTable writer;

    @BeforeAll
    static void build() throws IOException {
        orchestrator = Pools.orchestrator();
        vectors = Pools.rows(300, 2);
        Pools.buildSmall(orchestrator, PARTITIONS, folder.resolve("first.pool"));
    }

    @AfterAll
    static void closeAll() {
        orchestrator.close();
    }

    @BeforeEach
    void open() throws IOException {
        Files.copy(folder.resolve("first.pool"), folder.resolve(POOL), StandardCopyOption.REPLACE_EXISTING);
        reader = RemoteTable.builder().open(orchestrator, "reader", stepped, POOL);
        writer = RemoteTable.builder()
                .rebuildsFullLogs(false)
                .open(orchestrator, "writer", RemoteMemory.mapped(folder), POOL);
    }

    @AfterEach
    void close() {
        reader.close();
        writer.close();
    }

    /** A vector whose row belongs into a partition. */
    private float[] in(int partition) {
        return Arrays.stream(vectors)
                .filter(vector -> reader.partitionsOf(vector, 1)[0] == partition)
                .findFirst()
                .orElseThrow();
    }

    private static boolean isWordsOf(List<RemoteMemory.Region.Transfer> transfers, int partition) {
        int pair = partition / 2;
        return transfers.size() == 3
                && transfers.stream()
                        .anyMatch(transfer -> transfer.offset() == PoolHead.tailsAt(pair, 0)
                                || transfer.offset() == PoolHead.tailsAt(pair, 1));
    }

    private static boolean isWords(List<RemoteMemory.Region.Transfer> transfers) {
        return transfers.size() == 3 && transfers.getFirst().offset() == PoolHead.ROOT_AT;
    }

    /** Searches all partitions; looks at those of one pair when the rest has been looked at and the move is over. */
    private SearchResult searchAround(Runnable move, int from, float[] query) {
        CompletableFuture<Void> moved = new CompletableFuture<>();
        AtomicInteger others = new AtomicInteger();
        stepped.beforeEachRead(transfers -> {
            if (isWordsOf(transfers, from)) {
                return moved;
            }
            if (isWords(transfers)) {
                others.incrementAndGet();
            }
            return CompletableFuture.completedFuture(null);
        });
        CompletableFuture<SearchResult> answer = reader.search(query, 1, PARTITIONS);
        while (others.get() < PARTITIONS - 2) {
            Thread.onSpinWait();
        }
        awaitParked(2);
        move.run();
        moved.complete(null);
        return answer.join();
    }

    private static void awaitParked(int groups) {
        while (orchestrator.stats().domains().stream()
                        .mapToInt(domain -> domain.parked())
                        .sum()
                < groups) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aSearchFindsARowThatMovesToAPairThatItHasLookedAt() {
        writer.put(ID, in(4));
        SearchResult found = searchAround(() -> writer.put(ID, in(0)), 4, in(0));
        assertThat(found.ids()).containsExactly(ID);
        assertThat(found.distances()[0]).isZero();
    }

    @Test
    void aSearchFindsARowThatMovesFromAPairWhichIsBuiltAnewAfterwards() {
        writer.put(ID, in(4));
        SearchResult found = searchAround(
                () -> {
                    writer.put(ID, in(0));
                    writer.rebuild(4);
                },
                4,
                in(0));
        assertThat(found.ids()).containsExactly(ID);
    }

    @Test
    void aSearchFindsARowThatMovesToAPairThatWasBuiltAnewSinceItLooked() {
        writer.put(ID, in(4));
        SearchResult found = searchAround(
                () -> {
                    writer.rebuild(0);
                    writer.put(ID, in(0));
                },
                4,
                in(0));
        assertThat(found.ids()).containsExactly(ID);
    }

    /** One of the two partitions is looked at before the move and the other one after it, in either order. */
    @Test
    void aSearchFindsARowThatMovesWithinAPair() {
        for (int late = 1; late <= 2; late++) {
            stepped.beforeEachRead(transfers -> CompletableFuture.completedFuture(null));
            writer.put(ID, in(4));
            CompletableFuture<Void> moved = new CompletableFuture<>();
            AtomicInteger requested = new AtomicInteger();
            AtomicInteger others = new AtomicInteger();
            int held = late;
            stepped.beforeEachRead(transfers -> {
                if (isWordsOf(transfers, 4) && requested.incrementAndGet() == held) {
                    return moved;
                }
                others.addAndGet(isWords(transfers) ? 1 : 0);
                return CompletableFuture.completedFuture(null);
            });
            CompletableFuture<SearchResult> answer = reader.search(in(5), 1, PARTITIONS);
            while (others.get() < PARTITIONS - 1) {
                Thread.onSpinWait();
            }
            awaitParked(1);
            writer.put(ID, in(5));
            moved.complete(null);
            assertThat(answer.join().ids()).containsExactly(ID);
        }
    }

    /** What moves, when a thread that is no worker comes to the words of a pair for the first time. */
    private void moveBefore(int from, Runnable move) {
        AtomicInteger requested = new AtomicInteger();
        stepped.beforeEachRead(transfers -> {
            if (isWordsOf(transfers, from) && requested.getAndIncrement() == 0) {
                move.run();
            }
            return CompletableFuture.completedFuture(null);
        });
    }

    @Test
    void theVectorOfARowThatMovesMeanwhileIsFound() {
        writer.put(ID, in(4));
        moveBefore(4, () -> writer.put(ID, in(0)));
        assertThat(reader.vector(ID)).isEqualTo(in(0));
        assertThat(reader.vector(ID + 1)).isNull();
    }

    /** As where the next writer takes out what a lost one has left at the old place. */
    @Test
    void whatASearchSawBeforeAMoveIsKnownByTheLogsOfOthers() {
        PartitionResult.Seen early = new PartitionResult.Seen(0, 7, 65_535, 3, PartitionLog.EMPTY);
        assertThat(early.isBefore(new LogRecord.Moved(0, 65_535, 3))).isFalse();
        assertThat(early.isBefore(new LogRecord.Moved(0, 65_535, 4))).isTrue();
        assertThat(early.isBefore(new LogRecord.Moved(0, 0, 1))).isTrue();
        assertThat(early.isBefore(new LogRecord.Moved(0, 65_534, 90))).isFalse();
    }
}
