package io.github.roost.index.remote;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Partitions in local memory, bounded in bytes: those in use stay, of the others the one that {@link EvictionOrder} names makes room.
 * What is wanted and not there queues for the loader. All is guarded by this object's monitor, held for a few steps at a time;
 * waiters are completed outside of it.
 *
 * <p>Why a batch larger than the cache goes on, and reads each partition once: every query says beforehand which partitions it {@linkplain
 * #needs needs}, and says of each when it has been served there, or when it is over. A partition that is here and needed stays until nobody
 * needs it, which comes to pass since its queries wait for nothing else; then it makes room for the next one that is wanted. Should none
 * become free for a second, as where new queries keep coming for those that are here, a needed one that nobody uses at that moment goes.
 *
 * <p>Why no memory is freed that the provider writes to, and none is lost: a read that is given up counts in its {@link
 * CachedPartition.Memory} until the provider ends it. Memory that no entry has any more is freed by whichever comes last, the end of its
 * reads or that of its last pin, and counts until then. What a provider never ends is freed with the rest when the region is closed.
 */
final class PartitionCache {
    private static final long MAX_STARVED_NANOS = 1_000_000_000;
    private static final long LONGEST_WAIT_MILLIS = 100;

    private final OpenPool pool;
    private final String region;
    private final long capacity;
    private final int recordBytes;
    private final Supplier<long[]> traffic;
    private final EvictionOrder order;
    private final Map<CachedPartition.Key, CachedPartition> entries = new HashMap<>();
    private final ArrayDeque<CachedPartition> wanted = new ArrayDeque<>();
    /** How many queries are going to search each partition. */
    private final int[] needed;

    /** Since when nothing has made room for what is wanted; 0 where it has. */
    private long starvedSinceNanos;

    private long held;
    private long uses;
    private int loads;
    private int doorbellsUnderWay;
    /** Memory that no entry has any more, and that reads may still write to. */
    private final Set<CachedPartition.Memory> left = new HashSet<>();
    /** Bytes of the memory that has a read which was given up and has not ended. */
    private long givenUp;
    /** Why nothing is fetched any more; null while it is. */
    private @Nullable RemoteMemoryException closed;

    private long hits;
    private long reads;
    private long bytesRead;
    private long doorbells;
    private long evictions;

    /**
     * Caches nothing yet.
     *
     * @param traffic asked for the bytes that searches have touched, one number per partition
     */
    PartitionCache(OpenPool pool, long capacity, Supplier<long[]> traffic) {
        this.pool = pool;
        this.region = pool.region().name();
        this.capacity = capacity;
        this.recordBytes = pool.head().recordBytes();
        this.traffic = traffic;
        this.order = new EvictionOrder(pool.head().partitions());
        this.needed = new int[pool.head().partitions()];
    }

    /**
     * Reads under way together.
     *
     * @param directory that they go by, which has been entered
     * @param partitions one per read
     * @param memories that they are read into, in the same order
     * @param transfers of them
     * @param records of each partition's log that are there when they have ended
     */
    record Doorbell(
            Directory directory,
            List<CachedPartition> partitions,
            List<CachedPartition.Memory> memories,
            List<RemoteRegion.Transfer> transfers,
            int[] records) {}

    /** What has happened. */
    record Counts(long hits, long reads, long bytesRead, long doorbells, long evictions, long held) {}

    synchronized Counts counts() {
        return new Counts(hits, reads, bytesRead, doorbells, evictions, held);
    }

    /**
     * Pins a partition that is there, to be {@linkplain #release released}; or has it loaded.
     *
     * @param waiting completed when to ask again, or with a failure; of this call alone
     * @param counts whether finding it here is a hit that counts
     * @return null where it has to be waited for
     */
    @Nullable
    CachedPartition acquire(int partition, Directory directory, Waiting waiting, boolean counts) {
        RemoteMemoryException why;
        synchronized (this) {
            Directory.Place place = directory.partitions().get(partition);
            CachedPartition.Key key = new CachedPartition.Key(partition, place.generation());
            CachedPartition entry = entries.get(key);
            why = closed;
            if (why == null) {
                if (entry != null && entry.loaded && entry.records >= waiting.records()) {
                    entry.pins++;
                    entry.used = ++uses;
                    hits += counts ? 1 : 0;
                    return entry;
                }
                if (entry == null) {
                    entry = new CachedPartition(key, place, directory.gapOf(partition));
                    entries.put(key, entry);
                }
                entry.waiters.add(waiting);
                want(entry);
                return null;
            }
        }
        waiting.end(why);
        return null;
    }

    /** Pins a partition whose image is there and verified, to be {@linkplain #release released}; null where it is not. Of its log there may be more. */
    synchronized @Nullable CachedPartition acquireVerified(int partition, Directory directory) {
        CachedPartition entry = entries.get(new CachedPartition.Key(
                partition, directory.partitions().get(partition).generation()));
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

    /** A query is going to search these partitions. */
    synchronized void needs(int[] partitions) {
        for (int partition : partitions) {
            needed[partition]++;
        }
    }

    /** A query has searched a partition, or will not any more. */
    synchronized void needsNoMore(int partition) {
        if (--needed[partition] == 0) {
            notifyAll();
        }
    }

    synchronized void release(CachedPartition entry) {
        entry.pins--;
        if (entry.pins == 0) {
            if (entries.get(entry.key) != entry) {
                free(entry);
            }
            notifyAll();
        }
    }

    /**
     * Forgets a partition whose bytes are wrong; it must be pinned by the caller, and is released. Who waits for the end of its log asks
     * again, and has it read whole.
     */
    void discard(CachedPartition entry) {
        List<Waiting> askAgain;
        synchronized (this) {
            entries.remove(entry.key, entry);
            wanted.remove(entry);
            askAgain = List.copyOf(entry.waiters);
            entry.waiters.clear();
            entry.pins--;
            // With no entry in the map it is free when the last pin goes; until then its memory counts.
            free(entry);
            notifyAll();
        }
        askAgain.forEach(waiting -> waiting.end(null));
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
     * Waits for what is wanted and makes room for it, at most a tenth of a second.
     *
     * @param most reads of one doorbell
     * @param mostUnderWay doorbells that have not ended
     * @return what to read; empty where there is nothing yet, null when the cache is closed and nothing is under way
     */
    @Nullable
    Doorbell next(int most, int mostUnderWay) {
        List<Ended> failed = new ArrayList<>();
        Doorbell doorbell =
                new Doorbell(pool.enter(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new int[most]);
        boolean rung = false;
        try {
            synchronized (this) {
                long until = System.nanoTime() + LONGEST_WAIT_MILLIS * 1_000_000;
                while (true) {
                    if (closed != null && doorbellsUnderWay == 0) {
                        return null;
                    }
                    if (closed == null && doorbellsUnderWay < mostUnderWay) {
                        takeOutSuperseded(doorbell.directory(), failed);
                        take(doorbell, most, failed);
                    }
                    long left = (until - System.nanoTime()) / 1_000_000;
                    if (!doorbell.partitions().isEmpty() || !failed.isEmpty() || left <= 0) {
                        break;
                    }
                    try {
                        wait(left);
                    } catch (InterruptedException e) {
                        // The loader is told to end by closing the cache.
                        break;
                    }
                }
                if (!doorbell.partitions().isEmpty()) {
                    doorbellsUnderWay++;
                    doorbells++;
                    reads += doorbell.partitions().size();
                    for (RemoteRegion.Transfer transfer : doorbell.transfers()) {
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
                entry.waiters().forEach(waiting -> waiting.end(entry.why()));
            }
        }
        return doorbell;
    }

    /** A doorbell that was not made up, as where there was no memory for it: nobody is to read what it had. */
    private synchronized void notBegun(Doorbell doorbell, List<Ended> failed) {
        for (int i = 0; i < doorbell.memories().size(); i++) {
            doorbell.memories().get(i).reads--;
            failed.add(fail(
                    doorbell.partitions().get(i),
                    new RemoteMemoryException(region, "could not be asked for a partition")));
        }
    }

    /** Those who wait no longer, and why they fail; null where they go on. */
    private record Ended(List<Waiting> waiters, @Nullable RemoteMemoryException why) {}

    /** Takes an entry, which is out of the queue, out of the map too, unless its image is there: only the end of its log is missing then. */
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

    /** What was built anew since it was asked for is not where it was: who waits for it asks again, by the new directory. */
    private void takeOutSuperseded(Directory directory, List<Ended> superseded) {
        for (Iterator<CachedPartition> queue = wanted.iterator(); queue.hasNext(); ) {
            CachedPartition entry = queue.next();
            if (!isOf(directory, entry)) {
                queue.remove();
                superseded.add(fail(entry, new SupersededException(region)));
            }
        }
    }

    private static boolean isOf(Directory directory, CachedPartition entry) {
        return directory.partitions().get(entry.key.partition()).generation() == entry.key.generation();
    }

    private void take(Doorbell doorbell, int most, List<Ended> failed) {
        for (Iterator<CachedPartition> queue = wanted.iterator();
                queue.hasNext() && doorbell.partitions().size() < most; ) {
            CachedPartition entry = queue.next();
            if (entry.memory == null && entry.bytes() > capacity - givenUp) {
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
                // In their order: the first that finds no room waits for it.
                starvedSinceNanos = starvedSinceNanos == 0 ? System.nanoTime() : starvedSinceNanos;
                return;
            }
            entry.memory = memory;
            starvedSinceNanos = 0;
            int records =
                    entry.waiters.stream().mapToInt(Waiting::records).max().orElse(entry.records);
            RemoteRegion.Transfer transfer = entry.read(records, recordBytes);
            doorbell.records()[doorbell.partitions().size()] = records;
            doorbell.partitions().add(entry);
            doorbell.memories().add(memory);
            memory.reads++;
            doorbell.transfers().add(transfer);
            // At last: what fails before this leaves it where it is failed.
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
        return starvedSinceNanos != 0 && System.nanoTime() - starvedSinceNanos > MAX_STARVED_NANOS;
    }

    /** Memory for an entry: free one, or that of another entry, a needed one too if it has waited for too long; null where there is none. */
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
            // Memory that reads may still write to makes no room.
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

    /** The provider has ended reads, well or not: none of their bytes come any more. */
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

    /** Nobody waits for reads any more. Those that have failed and are not {@link #settled} have been given up. */
    void ended(Doorbell doorbell, @Nullable RemoteMemoryException failure) {
        List<Ended> goOn = new ArrayList<>();
        pool.leave(doorbell.directory());
        synchronized (this) {
            doorbellsUnderWay--;
            for (int i = 0; i < doorbell.partitions().size(); i++) {
                CachedPartition entry = doorbell.partitions().get(i);
                entry.loading = false;
                if (failure != null) {
                    giveUp(doorbell.memories().get(i));
                    goOn.add(fail(entry, failure));
                } else if (entries.get(entry.key) == entry) {
                    loaded(entry, doorbell.records()[i], goOn);
                }
            }
            notifyAll();
        }
        for (Ended waiters : goOn) {
            waiters.waiters().forEach(waiting -> waiting.end(waiters.why()));
        }
    }

    private void giveUp(CachedPartition.Memory memory) {
        if (memory.reads > 0 && !memory.givenUp) {
            memory.givenUp = true;
            givenUp += memory.bytes().byteSize();
        }
    }

    private void loaded(CachedPartition entry, int records, List<Ended> goOn) {
        entry.loaded = true;
        entry.records = records;
        List<Waiting> served = entry.waiters.stream()
                .filter(waiting -> waiting.records() <= records)
                .toList();
        entry.waiters.removeAll(served);
        goOn.add(new Ended(served, null));
        if (closed != null) {
            goOn.add(fail(entry, closed));
        } else if (!entry.waiters.isEmpty()) {
            want(entry);
        }
    }

    /** Whether a partition is here, for reports and tests. */
    synchronized boolean holds(int partition) {
        return entries.values().stream().anyMatch(entry -> entry.loaded && entry.key.partition() == partition);
    }

    /** Fetches nothing any more, and fails all that is wanted; what is under way ends by itself. Only the first reason counts. */
    void close(RemoteMemoryException why) {
        synchronized (this) {
            closed = closed == null ? why : closed;
        }
        failWanted(why);
    }

    /** Fails all that is wanted; what is under way ends by itself. */
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
            entry.waiters().forEach(waiting -> waiting.end(why));
        }
    }

    /** Frees all memory: nobody uses the table, and the region is closed. */
    synchronized void free() {
        for (CachedPartition entry : entries.values()) {
            free(entry);
        }
        entries.clear();
        left.forEach(this::free);
        left.clear();
    }
}
