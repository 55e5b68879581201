package io.github.roost.index.remote.update;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.MutableRemoteTable;
import io.github.roost.index.remote.Pools;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.index.remote.SteppedMemory;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.EpochRoot;
import io.github.roost.index.remote.format.LogSlots;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.format.SpaceReservation;
import io.github.roost.index.remote.pool.OpenPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a writer that was stopped may still do when it goes on, and what one that has died leaves behind. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LostWritersTest {
    private static final int PARTITIONS = 6;
    private static final long ID = 9_000;
    private static final String POOL = "lost.pool";

    @TempDir
    private static Path folder;

    private static Orchestrator orchestrator;
    private static float[][] vectors;

    private final SteppedMemory stepped = new SteppedMemory(RemoteMemory.mapped(folder));
    private final SteppedMemory other = new SteppedMemory(RemoteMemory.mapped(folder));
    private final List<RemoteTable> tables = new ArrayList<>();
    private OpenPool pool;

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
    void fresh() throws IOException {
        Files.copy(folder.resolve("first.pool"), folder.resolve(POOL), StandardCopyOption.REPLACE_EXISTING);
        pool = OpenPool.open(RemoteMemory.mapped(folder).open(POOL), Duration.ofSeconds(5));
    }

    @AfterEach
    void close() {
        tables.forEach(RemoteTable::close);
        tables.clear();
        pool.close();
    }

    private MutableRemoteTable open(RemoteMemory memory) throws IOException {
        MutableRemoteTable table =
                RemoteTable.builder().ef(300).rebuildsFullLogs(false).open(orchestrator, "lost", memory, POOL);
        tables.add(table);
        return table;
    }

    private MutableRemoteTable open() throws IOException {
        return open(RemoteMemory.mapped(folder));
    }

    /** Vectors whose rows belong into a partition. */
    private List<float[]> in(int partition) {
        return Arrays.stream(vectors)
                .filter(vector -> pool.nearest(vector, 1)[0] == partition)
                .toList();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private long[] fencedWords() throws RemoteMemoryException {
        return new long[] {
            pool.word(PoolHead.ROOT_AT), pool.word(PoolHead.tailsAt(1, 0)), pool.word(PoolHead.tailsAt(2, 0))
        };
    }

    /** Has the lease be that of a writer that was lost, whose successor gets the token after this. */
    private void loseWriter(long token) throws RemoteMemoryException {
        pool.replace(PoolHead.LEASE_AT, word -> token << 1 | 1);
    }

    /** What a stopped writer has read is never there again: neither after one take-over nor after two, whatever their tokens are. */
    @Test
    void twoTakeoversDoNotBringBackTheWordsThatAStoppedWriterExpects() throws IOException {
        long[] before = fencedWords();
        // Fences that were the low bits of tokens would be 7, and then 0 again, which they are at first.
        loseWriter((1 << 16) + 6);
        open().put(ID, in(0).getFirst());
        long[] once = fencedWords();
        loseWriter((2 << 16) - 1);
        open().put(ID + 1, in(0).getFirst());
        long[] twice = fencedWords();
        for (int i = 0; i < before.length; i++) {
            assertThat(once[i]).isNotEqualTo(before[i]);
            assertThat(twice[i]).isNotEqualTo(before[i]).isNotEqualTo(once[i]);
        }
        assertThat(EpochRoot.of(twice[0]).fence()).isEqualTo(2);
        assertThat(LogTails.of(twice[1]).fence()).isEqualTo(2);
    }

    private void loseSpace(long page) throws RemoteMemoryException {
        long at = pool.root().directoryAt() + (1_000 + page) * EpochRoot.PAGE;
        pool.replace(PoolHead.RESERVATION_AT, word -> new SpaceReservation(at, EpochRoot.PAGE).word());
        new WriterTakeover(pool, new WriterLease(pool, 1)).abandonReservation();
    }

    private long lostPlaces() throws RemoteMemoryException {
        long places = 0;
        for (int i = 0; i < PoolHead.MAX_LOST; i++) {
            places += pool.word(PoolHead.LOST_AT + (long) i * Long.BYTES) == 0 ? 0 : 1;
        }
        return places;
    }

    @Test
    void writersThatAreLostAgainAndAgainTakeOnePlaceAndAFullPoolNamesTheWayOut() throws IOException {
        for (int page = 0; page < 100; page++) {
            loseSpace(page);
            loseSpace(page);
        }
        assertThat(lostPlaces()).isEqualTo(1);
        assertThat(SpaceReservation.of(pool.word(PoolHead.LOST_AT)).bytes()).isEqualTo(100 * EpochRoot.PAGE);
        for (int place = 1; place < PoolHead.MAX_LOST; place++) {
            loseSpace(100 + 2 * place);
        }
        assertThat(lostPlaces()).isEqualTo(PoolHead.MAX_LOST);
        assertThat(pool.word(PoolHead.RESERVATION_AT)).isZero();
        loseSpace(1_000);
        loseWriter(5);
        MutableRemoteTable table = open();
        assertThat(table.put(ID, in(0).getFirst())).isTrue();
        assertThatThrownBy(() -> table.rebuild(0))
                .hasMessageContaining("takes no more rebuilds: save a table of it to another file, and serve that");
        assertThat(pool.word(PoolHead.LEASE_AT) & 1)
                .as("whether the lease is held, so that other changes wait for its end")
                .isZero();
        table.save(folder.resolve("saved.pool"));
        try (MutableRemoteTable saved =
                RemoteTable.builder().open(orchestrator, "saved", RemoteMemory.mapped(folder), "saved.pool")) {
            assertThat(saved.vector(ID)).isNotNull();
            assertThat(saved.rebuild(0)).isTrue();
        }
    }

    @Test
    void fencesGoRoundOnlyAfterAllTheirValues() {
        EpochRoot root = new EpochRoot(5, 255, 9);
        assertThat(root.fenced()).isEqualTo(new EpochRoot(5, 0, 9));
        LogTails tails = new LogTails(65_535, 3, 2, 1);
        assertThat(tails.fenced()).isEqualTo(new LogTails(0, 3, 2, 1));
        assertThat(tails.fenced().fenced()).isEqualTo(new LogTails(1, 3, 2, 1));
    }

    /** Runs something until it comes to the compare-and-set of the word of space that is being filled, and waits there. */
    private static LongConsumer stopsAtFilling(CountDownLatch stopped, CountDownLatch release) {
        AtomicInteger times = new AtomicInteger();
        return offset -> {
            // The first is that of reading the word.
            if (offset == PoolHead.RESERVATION_AT && times.getAndIncrement() == 1) {
                stopped.countDown();
                await(release);
            }
        };
    }

    @Test
    void aWriterThatWasFencedOffDoesNotNameItsSpaceOverThatOfThePresentOne() throws Exception {
        MutableRemoteTable late = open(stepped);
        MutableRemoteTable present = open(other);
        CountDownLatch stopped = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        stepped.beforeEachSwap(stopsAtFilling(stopped, release));
        CompletableFuture<Boolean> fenced =
                CompletableFuture.supplyAsync(() -> late.rebuild(0), Thread::startVirtualThread);
        await(stopped);
        // The present writer has named the space for another pair, and stops before it writes the root.
        CountDownLatch named = new CountDownLatch(1);
        CountDownLatch ends = new CountDownLatch(1);
        AtomicInteger times = new AtomicInteger();
        other.beforeEachSwap(offset -> {
            // The first is that of its take-over.
            if (offset == PoolHead.ROOT_AT && times.getAndIncrement() == 1) {
                named.countDown();
                await(ends);
            }
        });
        CompletableFuture<Boolean> rebuilt =
                CompletableFuture.supplyAsync(() -> present.rebuild(4), Thread::startVirtualThread);
        await(named);
        long filling = pool.word(PoolHead.RESERVATION_AT);
        assertThat(filling).isNotZero();
        release.countDown();
        assertThatThrownBy(fenced::join).hasRootCauseInstanceOf(RemoteMemoryException.WriterFencedException.class);
        assertThat(pool.word(PoolHead.RESERVATION_AT)).isEqualTo(filling);
        ends.countDown();
        assertThat(rebuilt.join()).isTrue();
        assertThat(pool.word(PoolHead.RESERVATION_AT)).isZero();
    }

    private int freeSlots(int partition) throws RemoteMemoryException {
        Directory directory = pool.refresh();
        int generation = directory.partitions().get(partition).generation();
        long word = pool.word(PoolHead.slotsAt(partition / 2, generation));
        return pool.slots(partition, directory) - LogSlots.of(word).all();
    }

    /** Leaves so many slots in the logs of a partition's pair. */
    private void fill(MutableRemoteTable table, int partition, int left) throws RemoteMemoryException {
        float[] vector = in(partition).getFirst();
        long id = 20_000;
        while (freeSlots(partition) > Math.max(left, 4)) {
            table.put(id++, vector);
        }
        while (freeSlots(partition) > left) {
            assertThat(table.remove(--id)).isTrue();
        }
    }

    /** Puts a row that does not concern a partition; false where that is refused since its log is full. */
    private boolean putsUnlessFull(MutableRemoteTable table, int partition) {
        try {
            table.put(ID + 1, in(0).getFirst());
            return true;
        } catch (RuntimeException refused) {
            assertThat(refused).hasMessageContaining("log of partition " + partition);
            return false;
        }
    }

    @Tag("stress")
    @Test
    void aRowThatADeadWriterHasLeftTwiceInAFullLogIsTakenOutByTheRebuild() throws Exception {
        float[] old = in(4).getLast();
        float[] moved = in(0).getLast();
        // Before each write of the move in turn: at some of them the row is twice and the last slot is gone.
        int lockedOut = 0;
        for (int dies = 1; dies <= 9; dies++) {
            close();
            fresh();
            MutableRemoteTable writer = open(stepped);
            stepped.beforeEach(number -> {});
            writer.put(ID, old);
            fill(writer, 4, 1);
            stepped.dieBefore(dies);
            try {
                writer.put(ID, moved);
            } catch (UncheckedIOException dead) {
                // At which step is what the loop is about.
            }
            MutableRemoteTable next = open();
            if (!putsUnlessFull(next, 4)) {
                lockedOut++;
                assertThat(putsUnlessFull(next, 4)).isFalse();
                // Building another pair anew would lose which of the two counts.
                assertThatThrownBy(() -> next.rebuild(0)).hasMessageContaining("log of partition 4");
            }
            assertThat(next.rebuild(4)).isTrue();
            assertThat(putsUnlessFull(next, 4)).isTrue();
            assertThat(next.rebuild(0)).isTrue();
            MutableRemoteTable later = open();
            float[] there = Objects.requireNonNull(later.vector(ID));
            assertThat(Arrays.equals(there, old) || Arrays.equals(there, moved)).isTrue();
            float[] gone = Arrays.equals(there, old) ? moved : old;
            assertThat(later.search(gone, 1, PARTITIONS).join().distances()[0]).isPositive();
            assertThat(later.search(there, 1, PARTITIONS).join().ids()).containsExactly(ID);
            assertThat(later.remove(ID)).isTrue();
            assertThat(open().vector(ID)).isNull();
        }
        assertThat(lockedOut).isPositive();
    }

    private static CompletableFuture<Void> begin(Runnable change) {
        return CompletableFuture.runAsync(change, Thread::startVirtualThread);
    }

    /** Whether bytes of a pair's former block are free. */
    private boolean isFree(Directory.Gap block) throws RemoteMemoryException {
        return pool.refresh().free().stream()
                .anyMatch(space -> space.at() < block.blockAt() + block.blockBytes() && block.blockAt() < space.end());
    }

    @Test
    void theBlockThatAStoppedWriterMayStillWriteToIsNeverUsedAgain() throws Exception {
        MutableRemoteTable late = open(stepped);
        late.put(ID, in(4).getFirst());
        Directory.Gap block = pool.directory().gapOf(4);
        CountDownLatch stopped = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger steps = new AtomicInteger();
        stepped.beforeEachSwap(offset -> {
            if (offset == PoolHead.slotsAt(2, 0)) {
                steps.compareAndSet(0, 1);
            }
        });
        // After the slots have been allocated, before the record is written.
        stepped.beforeEach(number -> {
            if (steps.get() > 0 && steps.getAndIncrement() == 2) {
                stopped.countDown();
                await(release);
            }
        });
        CompletableFuture<Void> change = begin(() -> late.put(ID + 1, in(4).getLast()));
        await(stopped);
        MutableRemoteTable present = open();
        assertThat(present.put(ID + 2, in(4).getFirst())).isTrue();
        assertThat(present.rebuild(4)).isTrue();
        Directory.Gap second = pool.refresh().gapOf(4);
        assertThat(isFree(block)).isFalse();
        // The block after it is used by no writer that was lost.
        assertThat(present.rebuild(4)).isTrue();
        assertThat(isFree(second)).isTrue();
        assertThat(isFree(block)).isFalse();
        release.countDown();
        assertThatThrownBy(change::join).hasRootCauseInstanceOf(RemoteMemoryException.WriterFencedException.class);
        assertThat(present.vector(ID + 1)).isNull();
        assertThat(present.vector(ID + 2)).isEqualTo(in(4).getFirst());
        present.verify();
    }

    @Test
    void aWriterThatWasFencedOffAllocatesNoSlots() throws Exception {
        for (int rebuilds = 0; rebuilds <= 2; rebuilds++) {
            close();
            fresh();
            MutableRemoteTable late = open(stepped);
            late.put(ID, in(4).getFirst());
            CountDownLatch stopped = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            AtomicInteger times = new AtomicInteger();
            stepped.beforeEachSwap(offset -> {
                if (offset == PoolHead.slotsAt(2, 0) && times.getAndIncrement() == 0) {
                    stopped.countDown();
                    await(release);
                }
            });
            CompletableFuture<Void> change = begin(() -> late.put(ID + 1, in(4).getLast()));
            await(stopped);
            MutableRemoteTable present = open();
            assertThat(present.put(ID + 2, in(0).getFirst())).isTrue();
            for (int i = 0; i < rebuilds; i++) {
                assertThat(present.rebuild(4)).isTrue();
            }
            long before = pool.word(PoolHead.slotsAt(2, 0));
            release.countDown();
            assertThatThrownBy(change::join).hasRootCauseInstanceOf(RemoteMemoryException.WriterFencedException.class);
            assertThat(pool.word(PoolHead.slotsAt(2, 0))).isEqualTo(before);
            assertThat(LogSlots.of(before).abandoned()).isFalse();
            assertThat(present.put(ID + 3, in(4).getLast())).isTrue();
        }
    }

    @Test
    void aStoppedWriterDoesNotCountItsRowTwiceWhereTheNumberIsAgainWhatItWas() throws Exception {
        MutableRemoteTable late = open(stepped);
        late.put(ID, in(0).getFirst());
        int rows = late.size();
        CountDownLatch stopped = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger times = new AtomicInteger();
        stepped.beforeEachSwap(offset -> {
            if (offset == PoolHead.ROWS_AT && times.getAndIncrement() == 0) {
                stopped.countDown();
                await(release);
            }
        });
        CompletableFuture<Void> change = begin(() -> late.put(ID + 1, in(0).getLast()));
        await(stopped);
        MutableRemoteTable present = open();
        assertThat(present.remove(ID)).isTrue();
        assertThat(present.size()).isEqualTo(rows);
        release.countDown();
        assertThatThrownBy(change::join).hasRootCauseInstanceOf(RemoteMemoryException.WriterFencedException.class);
        assertThat(present.size()).isEqualTo(rows);
    }

    @Test
    void aSlowReadOfTheLeaseIsNoTimeThatItsHolderWasSilent() throws Exception {
        loseWriter(5);
        AtomicInteger reads = new AtomicInteger();
        AtomicLong readNanos = new AtomicLong();
        AtomicLong takenNanos = new AtomicLong();
        stepped.beforeEachRead(
                transfers -> transfers.getFirst().offset() != PoolHead.LEASE_AT || reads.getAndIncrement() > 0
                        ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.runAsync(
                                () -> readNanos.set(System.nanoTime()),
                                CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS)));
        stepped.beforeEachSwap(offset -> takenNanos.compareAndSet(0, System.nanoTime()));
        try (OpenPool slow = OpenPool.open(stepped.open(POOL), Duration.ofSeconds(5))) {
            assertThat(new WriterLease(slow, 1_000_000_000).acquire()).isEqualTo(WriterLease.Grant.FROM_LOST);
        }
        assertThat(takenNanos.get() - readNanos.get()).isGreaterThan(pool.head().leaseMillis() * 1_000_000L);
    }

    @Test
    void thePairThatWasWithoutRowsGetsAGapLikeTheOthers() throws Exception {
        MutableRemoteTable table =
                RemoteTable.builder().ef(300).open(orchestrator, "gaps", RemoteMemory.mapped(folder), POOL);
        tables.add(table);
        for (long id = 0; id < 600; id += 2) {
            table.remove(id);
        }
        assertThat(table.size()).isZero();
        while (pool.refresh().partitions().get(4).rows() > 0
                || pool.directory().partitions().get(5).rows() > 0) {
            table.rebuild(4);
        }
        table.put(ID, in(4).getFirst());
        boolean rebuilt = false;
        while (!rebuilt) {
            // Not if the table's own rebuild of the logs that the removals have filled ends meanwhile.
            rebuilt = table.rebuild(4);
        }
        Directory directory = pool.refresh();
        long images = directory.partitions().get(4).bytes()
                + directory.partitions().get(5).bytes();
        assertThat(directory.gapOf(4).bytes())
                .isEqualTo(Directory.Gap.bytes(images, .5, pool.head().recordBytes()));
    }

    /** Ends the holds of all readers, as a writer does that takes them for dead. */
    private void endHolds() {
        try {
            for (int reader = 0; reader < PoolHead.READERS; reader++) {
                pool.replace(PoolHead.READERS_AT + (long) reader * PoolHead.READER_BYTES, owner -> 0);
            }
        } catch (RemoteMemoryException failed) {
            throw new AssertionError(failed);
        }
    }

    @Test
    void aCopyFailsIfAnEpochBeganWhileItsHoldWasLost() throws Exception {
        MutableRemoteTable copied = open(stepped);
        MutableRemoteTable present = open();
        boolean[] loses = {false};
        AtomicInteger pieces = new AtomicInteger();
        stepped.beforeEachRead(transfers -> {
            if (transfers.getFirst().offset() == PoolHead.pairsEnd(PARTITIONS) && pieces.getAndIncrement() == 0) {
                if (loses[0]) {
                    endHolds();
                }
                assertThat(present.rebuild(0)).isTrue();
            }
            return CompletableFuture.completedFuture(null);
        });
        copied.save(folder.resolve("copied.pool"));
        assertThat(pieces.get()).isEqualTo(1);
        loses[0] = true;
        pieces.set(0);
        assertThatThrownBy(() -> copied.save(folder.resolve("copied.pool")))
                .isInstanceOf(RemoteMemoryException.class)
                .hasMessageContaining("was rebuilt while it was copied");
    }
}
