package io.github.roost.index.remote.cache;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache of partitions in local memory, bounded in bytes. Pinned partitions stay; of the others {@link EvictionOrder} chooses which to evict.
 * Requested partitions that are absent queue for the loader. All state is guarded by this object's monitor, held for a few steps at a time;
 * waiters are completed outside it.
 *
 * <p>Why a batch larger than the cache makes progress and reads each partition once: every query declares beforehand which partitions it
 * {@linkplain #needs needs}, and for each of them reports when it has been served or is over. A cached partition that is needed stays until no
 * query needs it. That happens eventually, since its queries wait for nothing else; then it makes room for the next requested partition. If
 * nothing becomes free for a second, for example because new queries keep coming for cached partitions, a needed partition that is not pinned is
 * evicted.
 *
 * <p>Why no memory is freed while the provider writes to it, and none leaks: a read that was given up counts in its
 * {@link CachedPartition.Memory} until the provider ends it. Memory without an entry is freed by the later of its last read's end and its last
 * pin's release, and counts as held until then. Memory of reads that the provider never ends is freed with the rest after the region is closed.
 */
public final class PartitionCache {
    private static final long MAX_STARVED_NANOS = 1_000_000_000;
    private static final long LONGEST_WAIT_MILLIS = 100;

    private final OpenPool pool;
    private final String region;
    private final long capacity;
    private final int recordBytes;
    private final Supplier<long[]> traffic;
    private final LongSupplier nanoTime;
    private final EvictionOrder order;
    private final Map<Directory.Key, CachedPartition> entries = new HashMap<>();
    private final ArrayDeque<CachedPartition> wanted = new ArrayDeque<>();
    /** Number of queries that still need each partition. */
    private final int[] needed;

    /** Since when the first requested partition has found no room; 0 if it is not waiting for room. */
    private long starvedSinceNanos;

    private long held;
    private long uses;
    private int loads;
    private int doorbellsInProgress;
    /** Memory without an entry that reads may still write to. */
    private final Set<CachedPartition.Memory> left = new HashSet<>();
    /** Bytes of the memory with a read that was given up and has not ended. */
    private long givenUp;
    /** The reason why the cache is closed; null while it is open. */
    private @Nullable RemoteMemoryException closed;

    private long hits;
    private long reads;
    private long bytesRead;
    private long doorbells;
    private long evictions;

    /**
     * Makes an empty cache.
     *
     * @param traffic supplies the bytes touched by searches, per partition
     */
    public PartitionCache(OpenPool pool, long capacity, Supplier<long[]> traffic) {
        this(pool, capacity, traffic, System::nanoTime);
    }

    /** @param nanoTime the clock of how long a partition has found no room, never 0 */
    PartitionCache(OpenPool pool, long capacity, Supplier<long[]> traffic, LongSupplier nanoTime) {
        this.pool = pool;
        this.region = pool.region().name();
        this.capacity = capacity;
        this.recordBytes = pool.head().recordBytes();
        this.traffic = traffic;
        this.nanoTime = nanoTime;
        this.order = new EvictionOrder(pool.head().partitions());
        this.needed = new int[pool.head().partitions()];
    }

    /**
     * Reads in progress that were requested together.
     *
     * @param directory the directory they use, which has been entered
     * @param partitions one per read
     * @param memories destinations of the reads, in the same order
     * @param transfers the transfers, in the same order
     * @param records records of each partition's log that are present after its read
     */
    record Doorbell(
            Directory directory,
            List<CachedPartition> partitions,
            List<CachedPartition.Memory> memories,
            List<RemoteMemory.Region.Transfer> transfers,
            int[] records) {}

    /** Counts since the cache was made; {@code held} is its current memory in bytes. */
    public record Counts(long hits, long reads, long bytesRead, long doorbells, long evictions, long held) {}

    public synchronized Counts counts() {
        return new Counts(hits, reads, bytesRead, doorbells, evictions, held);
    }

    /**
     * Pins a partition if it is cached with enough of its log; otherwise requests it. A pinned partition must be {@linkplain #release released}.
     *
     * @param waiter completed when the caller should ask again, or with a failure; used by this call only
     * @param counts whether a cache hit is counted
     * @return null if the caller has to wait
     */
    @Nullable
    public CachedPartition acquire(int partition, Directory directory, PartitionWaiter waiter, boolean counts) {
        RemoteMemoryException why;
        synchronized (this) {
            Directory.Key key = directory.key(partition);
            CachedPartition entry = entries.get(key);
            why = closed;
            if (why == null) {
                if (entry != null && entry.loaded && entry.records >= waiter.records()) {
                    entry.pins++;
                    entry.used = ++uses;
                    hits += counts ? 1 : 0;
                    return entry;
                }
                if (entry == null) {
                    entry = CachedPartition.of(directory, partition);
                    entries.put(key, entry);
                }
                entry.waiters.add(waiter);
                want(entry);
                return null;
            }
        }
        waiter.end(why);
        return null;
    }

    /**
     * Pins a partition if its image is cached and verified; its cached log may be out of date. It must be {@linkplain #release released}. Returns
     * null otherwise.
     */
    public synchronized @Nullable CachedPartition acquireVerified(int partition, Directory directory) {
        CachedPartition entry = entries.get(directory.key(partition));
        if (entry == null || !entry.loaded || !entry.isVerified()) {
            return null;
        }
        entry.pins++;
        entry.used = ++uses;
        return entry;
    }

    private void want(CachedPartition entry) {
        if (!entry.loading) {
            entry.loading = true;
            wanted.add(entry);
            notifyAll();
        }
    }

    /** Declares that a query will search these partitions. */
    public synchronized void needs(int[] partitions) {
        for (int partition : partitions) {
            needed[partition]++;
        }
    }

    /** Reports that a query has searched a partition, or will not search it. */
    public synchronized void needsNoMore(int partition) {
        if (--needed[partition] == 0) {
            notifyAll();
        }
    }

    public synchronized void release(CachedPartition entry) {
        entry.pins--;
        if (entry.pins == 0) {
            if (entries.get(entry.key) != entry) {
                free(entry);
            }
            notifyAll();
        }
    }

    /**
     * Removes a partition with wrong bytes. The caller must have pinned it; the pin is released. Waiters for the end of its log ask again, and
     * have the whole partition read.
     */
    public void discard(CachedPartition entry) {
        List<PartitionWaiter> superseded;
        synchronized (this) {
            entries.remove(entry.key, entry);
            wanted.remove(entry);
            superseded = List.copyOf(entry.waiters);
            entry.waiters.clear();
            entry.pins--;
            // The entry is not in the map any more, so the last release frees its memory; until then the memory counts.
            free(entry);
            notifyAll();
        }
        superseded.forEach(waiter -> waiter.end(null));
    }

    /** Frees the memory of an entry that is not in the map, unless it is pinned. */
    private void free(CachedPartition entry) {
        CachedPartition.Memory memory = entry.memory;
        if (entry.pins == 0 && memory != null) {
            entry.memory = null;
            if (memory.reads == 0) {
                free(memory);
            } else {
                left.add(memory);
            }
        }
    }

    private void free(CachedPartition.Memory memory) {
        held -= memory.bytes().byteSize();
        memory.free();
    }

    /**
     * Waits up to a tenth of a second for requested partitions and makes room for them.
     *
     * @param max maximum number of reads per doorbell
     * @param maxInProgress maximum number of doorbells in progress
     * @return the reads to begin; empty if there are none yet, null if the cache is closed and nothing is in progress
     */
    @Nullable
    Doorbell next(int max, int maxInProgress) {
        List<Ended> failed = new ArrayList<>();
        Doorbell doorbell =
                new Doorbell(pool.enter(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new int[max]);
        boolean rung = false;
        try {
            synchronized (this) {
                long until = System.nanoTime() + LONGEST_WAIT_MILLIS * 1_000_000;
                while (true) {
                    if (closed != null && doorbellsInProgress == 0) {
                        return null;
                    }
                    if (closed == null && doorbellsInProgress < maxInProgress) {
                        removeSuperseded(doorbell.directory(), failed);
                        take(doorbell, max, failed);
                    }
                    long left = (until - System.nanoTime()) / 1_000_000;
                    if (!doorbell.partitions().isEmpty() || !failed.isEmpty() || left <= 0) {
                        break;
                    }
                    try {
                        wait(left);
                    } catch (InterruptedException e) {
                        // Closing the cache ends the loader, not an interrupt.
                        break;
                    }
                }
                if (!doorbell.partitions().isEmpty()) {
                    doorbellsInProgress++;
                    doorbells++;
                    reads += doorbell.partitions().size();
                    for (RemoteMemory.Region.Transfer transfer : doorbell.transfers()) {
                        bytesRead += transfer.local().byteSize();
                    }
                    rung = true;
                }
            }
        } finally {
            if (!rung) {
                pool.leave(doorbell.directory());
                notBegun(doorbell, failed);
            }
            for (Ended entry : failed) {
                entry.waiters().forEach(waiter -> waiter.end(entry.why()));
            }
        }
        return doorbell;
    }

    /** Fails the partitions of a doorbell that could not be completed, for example for lack of memory: nothing would read them. */
    private synchronized void notBegun(Doorbell doorbell, List<Ended> failed) {
        for (int i = 0; i < doorbell.memories().size(); i++) {
            doorbell.memories().get(i).reads--;
            failed.add(fail(doorbell.partitions().get(i), new RemoteMemoryException(region, "could not be read")));
        }
    }

    /** Waiters to be completed, and their failure; null if they ask again. */
    private record Ended(
            List<PartitionWaiter> waiters, @Nullable RemoteMemoryException why) {}

    /**
     * Fails the waiters of an entry that is not in the queue any more. Removes it from the map too, unless its image is loaded: then only the end
     * of its log is missing.
     */
    private Ended fail(CachedPartition entry, RemoteMemoryException why) {
        Ended failed = new Ended(List.copyOf(entry.waiters), why);
        entry.waiters.clear();
        entry.loading = false;
        if (!entry.loaded) {
            entries.remove(entry.key, entry);
            free(entry);
        }
        return failed;
    }

    /** Removes requests for partitions that were rebuilt since, as their bytes have moved: the waiters ask again by the new directory. */
    private void removeSuperseded(Directory directory, List<Ended> superseded) {
        for (Iterator<CachedPartition> queue = wanted.iterator(); queue.hasNext(); ) {
            CachedPartition entry = queue.next();
            if (!isOf(directory, entry)) {
                queue.remove();
                superseded.add(fail(entry, new SupersededException(region)));
            }
        }
    }

    private static boolean isOf(Directory directory, CachedPartition entry) {
        return directory.key(entry.key.partition()).equals(entry.key);
    }

    /**
     * Takes requests in their order. After the first one without room only those that need none are taken, which are the ends of logs: the
     * partitions of these are needed, so the room that the first one waits for may depend on them.
     */
    private void take(Doorbell doorbell, int max, List<Ended> failed) {
        boolean lacksRoom = false;
        for (Iterator<CachedPartition> queue = wanted.iterator();
                queue.hasNext() && doorbell.partitions().size() < max; ) {
            CachedPartition entry = queue.next();
            boolean needsRoom = entry.memory == null;
            if (needsRoom && lacksRoom) {
                continue;
            }
            if (needsRoom && entry.bytes() > capacity - givenUp) {
                queue.remove();
                failed.add(fail(entry, noRoom(entry, whyNever(entry), null)));
                continue;
            }
            CachedPartition.Memory memory;
            try {
                memory = entry.memory != null ? entry.memory : makeRoom(entry, isStarved());
            } catch (OutOfMemoryError none) {
                queue.remove();
                failed.add(fail(entry, noRoom(entry, "for which this process has no memory", none)));
                continue;
            }
            if (memory == null) {
                starvedSinceNanos = starvedSinceNanos == 0 ? nanoTime.getAsLong() : starvedSinceNanos;
                lacksRoom = true;
                continue;
            }
            entry.memory = memory;
            starvedSinceNanos = needsRoom ? 0 : starvedSinceNanos;
            int records = entry.waiters.stream()
                    .mapToInt(PartitionWaiter::records)
                    .max()
                    .orElse(entry.records);
            RemoteMemory.Region.Transfer transfer = entry.read(records, recordBytes);
            doorbell.records()[doorbell.partitions().size()] = records;
            doorbell.partitions().add(entry);
            doorbell.memories().add(memory);
            memory.reads++;
            doorbell.transfers().add(transfer);
            // Last, so that the entry is still in the queue if anything above throws: then it is failed there.
            queue.remove();
        }
    }

    private String whyNever(CachedPartition entry) {
        return entry.bytes() > capacity
                ? "more than the cache's " + capacity
                : "and does not answer: reads that were given up may still write to " + givenUp + " of the cache's "
                        + capacity;
    }

    private RemoteMemoryException noRoom(CachedPartition entry, String why, @Nullable Throwable cause) {
        return new RemoteMemoryException(
                region,
                "has a partition " + entry.key.partition() + " of " + entry.bytes() + " bytes with its log, " + why,
                cause);
    }

    private boolean isStarved() {
        return starvedSinceNanos != 0 && nanoTime.getAsLong() - starvedSinceNanos > MAX_STARVED_NANOS;
    }

    /** Memory for an entry, new or of evicted entries; of needed ones too if {@code starved}. Null if there is none. */
    private CachedPartition.@Nullable Memory makeRoom(CachedPartition entry, boolean starved) {
        long bytes = entry.bytes();
        while (held + bytes > capacity) {
            CachedPartition victim = victim(starved);
            if (victim == null) {
                return null;
            }
            evictions++;
            entries.remove(victim.key);
            CachedPartition.Memory memory = victim.memory;
            if (memory != null && memory.bytes().byteSize() == bytes) {
                victim.memory = null;
                return memory;
            }
            free(victim);
        }
        Arena arena = Arena.ofShared();
        boolean allocated = false;
        try {
            CachedPartition.Memory memory = new CachedPartition.Memory(arena, arena.allocate(bytes, 64));
            held += bytes;
            allocated = true;
            return memory;
        } finally {
            if (!allocated) {
                arena.close();
            }
        }
    }

    private @Nullable CachedPartition victim(boolean starved) {
        if (++loads % 64 == 1) {
            order.look(traffic.get());
        }
        CachedPartition victim = null;
        Directory directory = pool.directory();
        for (CachedPartition entry : entries.values()) {
            // Memory that reads may still write to cannot be reused.
            boolean inUse = entry.pins > 0 || entry.loading || entry.memory == null || entry.memory.reads > 0;
            if (!inUse && !isOf(directory, entry)) {
                return entry;
            }
            boolean kept = inUse || (needed[entry.key.partition()] > 0 && !starved);
            if (!kept
                    && (victim == null
                            || order.goesFirst(
                                    entry.key.partition(), entry.used, victim.key.partition(), victim.used))) {
                victim = entry;
            }
        }
        return victim;
    }

    /** The provider has ended the reads, successfully or not: none of their bytes arrive any more. */
    synchronized void settled(Doorbell doorbell) {
        for (CachedPartition.Memory memory : doorbell.memories()) {
            memory.reads--;
            if (memory.reads == 0) {
                if (memory.givenUp) {
                    memory.givenUp = false;
                    givenUp -= memory.bytes().byteSize();
                }
                if (left.remove(memory)) {
                    free(memory);
                }
            }
        }
        notifyAll();
    }

    /** The wait for a doorbell's reads is over. Failed reads that have not {@linkplain #settled settled} were given up. */
    void ended(Doorbell doorbell, @Nullable RemoteMemoryException failure) {
        List<Ended> ended = new ArrayList<>();
        pool.leave(doorbell.directory());
        synchronized (this) {
            doorbellsInProgress--;
            for (int i = 0; i < doorbell.partitions().size(); i++) {
                CachedPartition entry = doorbell.partitions().get(i);
                entry.loading = false;
                if (failure != null) {
                    giveUp(doorbell.memories().get(i));
                    ended.add(fail(entry, failure));
                } else if (entries.get(entry.key) == entry) {
                    loaded(entry, doorbell.records()[i], ended);
                }
            }
            notifyAll();
        }
        for (Ended waiters : ended) {
            waiters.waiters().forEach(waiter -> waiter.end(waiters.why()));
        }
    }

    private void giveUp(CachedPartition.Memory memory) {
        if (memory.reads > 0 && !memory.givenUp) {
            memory.givenUp = true;
            givenUp += memory.bytes().byteSize();
        }
    }

    private void loaded(CachedPartition entry, int records, List<Ended> ended) {
        entry.loaded = true;
        entry.records = records;
        List<PartitionWaiter> served = entry.waiters.stream()
                .filter(waiter -> waiter.records() <= records)
                .toList();
        entry.waiters.removeAll(served);
        ended.add(new Ended(served, null));
        if (closed != null) {
            ended.add(fail(entry, closed));
        } else if (!entry.waiters.isEmpty()) {
            want(entry);
        }
    }

    /** Closes the cache and fails all requested partitions; reads in progress end by themselves. Only the first reason is kept. */
    public void close(RemoteMemoryException why) {
        synchronized (this) {
            closed = closed == null ? why : closed;
        }
        failWanted(why);
    }

    /** Fails all requested partitions; reads in progress end by themselves. */
    void failWanted(RemoteMemoryException why) {
        List<Ended> failed = new ArrayList<>();
        synchronized (this) {
            for (CachedPartition entry : wanted) {
                failed.add(fail(entry, why));
            }
            wanted.clear();
            notifyAll();
        }
        for (Ended entry : failed) {
            entry.waiters().forEach(waiter -> waiter.end(why));
        }
    }

    /** Frees all memory. The table must be unused and the region closed. */
    synchronized void free() {
        for (CachedPartition entry : entries.values()) {
            free(entry);
        }
        entries.clear();
        left.forEach(this::free);
        left.clear();
    }
}
