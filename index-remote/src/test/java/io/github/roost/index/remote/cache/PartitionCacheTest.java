package io.github.roost.index.remote.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.remote.FaultyMemory;
import io.github.roost.index.remote.PartitionedIndex;
import io.github.roost.index.remote.Pools;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.index.remote.pool.ReaderHold;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The cache beside a loader, and without one: then the test rings, and ends reads when it likes. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PartitionCacheTest {
    private static final String POOL = "cached.pool";

    @TempDir
    private static Path folder;

    private final FaultyMemory memory = new FaultyMemory(RemoteMemory.mapped(folder));
    private OpenPool pool;

    @BeforeAll
    static void build() throws IOException {
        try (Orchestrator orchestrator = Pools.orchestrator()) {
            Pools.build(
                    orchestrator, PartitionedIndex.builder().partitions(4), Pools.rows(400, 1), folder.resolve(POOL));
        }
    }

    @BeforeEach
    void open() throws IOException {
        pool = OpenPool.open(memory.open(POOL), Duration.ofSeconds(5));
    }

    @AfterEach
    void close() {
        pool.close();
    }

    private PartitionCache cache(long capacity) {
        return new PartitionCache(pool, capacity, () -> new long[4]);
    }

    private static PartitionCache.Doorbell next(PartitionCache cache) {
        return Objects.requireNonNull(cache.next(16, 2));
    }

    private void read(PartitionCache.Doorbell doorbell) {
        pool.region().get(doorbell.transfers()).join();
    }

    private static void end(PartitionCache cache, PartitionCache.Doorbell doorbell) {
        cache.settled(doorbell);
        cache.ended(doorbell, null);
    }

    private @Nullable CachedPartition acquire(PartitionCache cache, int partition, PartitionWaiter waiting) {
        return cache.acquire(partition, pool.directory(), waiting, true);
    }

    /** As a loader does, in this thread. */
    private CachedPartition fetch(PartitionCache cache, int partition, int records) {
        assertThat(acquire(cache, partition, new PartitionWaiter(records))).isNull();
        PartitionCache.Doorbell doorbell = next(cache);
        read(doorbell);
        end(cache, doorbell);
        return Objects.requireNonNull(acquire(cache, partition, new PartitionWaiter(records)));
    }

    private static boolean isOver(PartitionWaiter waiting) {
        return !waiting.pending().await(() -> {});
    }

    @Test
    void aPartitionThatIsDiscardedWhileTheEndOfItsLogIsReadIsReadWhole() throws Exception {
        PartitionCache cache = cache(1L << 30);
        CachedPartition damaged = fetch(cache, 1, 0);
        PartitionWaiter forLog = new PartitionWaiter(2);
        assertThat(acquire(cache, 1, forLog)).isNull();
        PartitionCache.Doorbell endOfLog = next(cache);
        assertThat(endOfLog.transfers().getFirst().local().byteSize())
                .isEqualTo(2L * pool.head().recordBytes());
        cache.discard(damaged);
        assertThat(isOver(forLog)).isTrue();
        forLog.requireNoFailure();
        PartitionWaiter again = new PartitionWaiter(2);
        assertThat(acquire(cache, 1, again)).isNull();
        PartitionCache.Doorbell whole = next(cache);
        read(endOfLog);
        end(cache, endOfLog);
        read(whole);
        end(cache, whole);
        assertThat(whole.transfers().getFirst().local().byteSize())
                .isEqualTo(damaged.place.bytes() + 2L * pool.head().recordBytes());
        assertThat(isOver(again)).isTrue();
        CachedPartition read = Objects.requireNonNull(acquire(cache, 1, new PartitionWaiter(2)));
        assertThat(read).isNotSameAs(damaged);
        assertThatCode(() -> read.verify("region", pool.head(), 0, Integer.MAX_VALUE))
                .doesNotThrowAnyException();
        // The memory of the one that was discarded is free.
        assertThat(cache.counts().held()).isEqualTo(read.bytes());
    }

    @Test
    void aDiscardedPartitionKeepsItsMemoryWhileAnotherSearchHasItPinned() {
        PartitionCache cache = cache(1L << 30);
        CachedPartition one = fetch(cache, 2, 0);
        assertThat(acquire(cache, 2, new PartitionWaiter(0))).isSameAs(one);
        cache.discard(one);
        assertThat(cache.counts().held()).isEqualTo(one.bytes());
        assertThat(one.image().byteSize()).isEqualTo(one.place.bytes());
        cache.release(one);
        assertThat(cache.counts().held()).isZero();
    }

    @Test
    void whoStillWaitsWhenTheCacheIsClosedIsFailedWhenTheReadUnderWayEnds() {
        PartitionCache cache = cache(1L << 30);
        PartitionWaiter image = new PartitionWaiter(0);
        PartitionWaiter log = new PartitionWaiter(3);
        assertThat(acquire(cache, 0, image)).isNull();
        PartitionCache.Doorbell doorbell = next(cache);
        assertThat(acquire(cache, 0, log)).isNull();
        cache.close(new RemoteMemoryException("region", "is closed"));
        PartitionWaiter late = new PartitionWaiter(0);
        assertThat(acquire(cache, 3, late)).isNull();
        assertThatThrownBy(late::requireNoFailure).hasMessage("region is closed");
        read(doorbell);
        end(cache, doorbell);
        assertThatCode(image::requireNoFailure).doesNotThrowAnyException();
        assertThat(isOver(log)).isTrue();
        assertThatThrownBy(log::requireNoFailure).hasMessage("region is closed");
        assertThat(cache.next(16, 2)).isNull();
    }

    /** A directory that says that a partition is larger than any memory. */
    private Directory huge(int partition) {
        Directory directory = pool.directory();
        List<Directory.Place> places = new ArrayList<>(directory.partitions());
        Directory.Place place = places.get(partition);
        places.set(partition, new Directory.Place(place.at(), 1L << 50, place.rows(), place.generation()));
        return new Directory(directory.epoch(), places, directory.gaps(), directory.free(), directory.end());
    }

    @Test
    void aPartitionThatThereIsNoMemoryForFailsByNameAndOthersGoOn() {
        PartitionCache cache = cache(Long.MAX_VALUE);
        PartitionWaiter tooLarge = new PartitionWaiter(0);
        PartitionWaiter other = new PartitionWaiter(0);
        assertThat(cache.acquire(1, huge(1), tooLarge, true)).isNull();
        assertThat(acquire(cache, 2, other)).isNull();
        PartitionCache.Doorbell doorbell = next(cache);
        assertThat(isOver(tooLarge)).isTrue();
        assertThatThrownBy(tooLarge::requireNoFailure)
                .hasMessageContaining("has a partition 1 of ")
                .hasMessageContaining("for which this process has no memory")
                .hasCauseInstanceOf(OutOfMemoryError.class);
        assertThat(doorbell.partitions()).hasSize(1);
        read(doorbell);
        end(cache, doorbell);
        assertThat(acquire(cache, 2, new PartitionWaiter(0))).isNotNull();
    }

    @Test
    void aLoaderThatMeetsAnErrorFailsWhoWaitsAndGoesOn() throws Exception {
        boolean[] broken = {true};
        long room = pool.directory().partitions().stream()
                        .mapToLong(Directory.Place::bytes)
                        .max()
                        .orElseThrow()
                + pool.directory().gaps().getFirst().bytes() * 2;
        PartitionCache cache = new PartitionCache(pool, room, () -> {
            if (broken[0]) {
                broken[0] = false;
                throw new AssertionError("no traffic is known");
            }
            return new long[4];
        });
        ReaderHold hold = ReaderHold.of(pool, "test");
        Thread loader = new Thread(new PartitionLoader(cache, pool, hold, 16, 5_000_000_000L));
        loader.start();
        cache.release(await(cache, 0));
        // Has to make room, for which traffic is asked.
        assertThatThrownBy(() -> await(cache, 1))
                .isInstanceOf(RemoteMemoryException.class)
                .hasRootCauseMessage("no traffic is known");
        cache.release(await(cache, 1));
        memory.throwInGet(new IllegalStateException("no card"));
        assertThatThrownBy(() -> await(cache, 2))
                .isInstanceOf(RemoteMemoryException.class)
                .hasRootCauseMessage("no card");
        memory.throwInGet(null);
        cache.close(new RemoteMemoryException("region", "is closed"));
        loader.join();
        assertThat(cache.counts().held()).isZero();
        // The loader has closed the pool.
        open();
    }

    private CachedPartition await(PartitionCache cache, int partition) throws RemoteMemoryException {
        while (true) {
            PartitionWaiter waiting = new PartitionWaiter(0);
            CachedPartition there = acquire(cache, partition, waiting);
            if (there != null) {
                return there;
            }
            waiting.await();
        }
    }

    /** Room for each partition, and for no two of them. */
    private long roomForOne() {
        Directory directory = pool.directory();
        return directory.partitions().stream()
                        .mapToLong(Directory.Place::bytes)
                        .max()
                        .orElseThrow()
                + directory.gaps().stream()
                        .mapToLong(Directory.Gap::bytes)
                        .max()
                        .orElseThrow();
    }

    @Test
    void theEndOfALogIsReadWhileAnotherPartitionWaitsForTheRoomOfItsPartition() throws Exception {
        PartitionCache cache = cache(roomForOne());
        cache.release(fetch(cache, 0, 0));
        cache.needs(new int[] {0, 2});
        PartitionWaiter other = new PartitionWaiter(0);
        assertThat(acquire(cache, 2, other)).isNull();
        PartitionWaiter log = new PartitionWaiter(2);
        assertThat(acquire(cache, 0, log)).isNull();
        PartitionCache.Doorbell endOfLog = next(cache);
        assertThat(endOfLog.partitions())
                .extracting(entry -> entry.key.partition())
                .containsExactly(0);
        read(endOfLog);
        end(cache, endOfLog);
        log.requireNoFailure();
        cache.release(Objects.requireNonNull(acquire(cache, 0, new PartitionWaiter(2))));
        cache.needsNoMore(0);
        PartitionCache.Doorbell whole = next(cache);
        assertThat(whole.partitions())
                .extracting(entry -> entry.key.partition())
                .containsExactly(2);
        read(whole);
        end(cache, whole);
        assertThat(isOver(other)).isTrue();
    }

    @Test
    void endsOfLogsDoNotProlongTheWaitForRoom() {
        long[] nanos = {1};
        PartitionCache cache = new PartitionCache(pool, roomForOne(), () -> new long[4], () -> nanos[0]);
        cache.release(fetch(cache, 0, 0));
        cache.needs(new int[] {0, 2});
        assertThat(acquire(cache, 2, new PartitionWaiter(0))).isNull();
        for (int records = 1; records <= 10; records++) {
            assertThat(acquire(cache, 0, new PartitionWaiter(records))).isNull();
            PartitionCache.Doorbell endOfLog = next(cache);
            assertThat(endOfLog.partitions())
                    .extracting(entry -> entry.key.partition())
                    .containsExactly(0);
            read(endOfLog);
            end(cache, endOfLog);
            nanos[0] += 100_000_000;
        }
        nanos[0]++;
        // Partition 0 is still needed, but its room has been waited for for more than a second.
        assertThat(next(cache).partitions())
                .extracting(entry -> entry.key.partition())
                .containsExactly(2);
    }
}
