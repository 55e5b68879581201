package io.github.roost.index.remote;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
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
 */
final class PartitionCache {
    private static final long MOST_STARVED_NANOS = 1_000_000_000;
    private static final long LONGEST_WAIT_MILLIS = 100;

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
    private boolean closed;

    private long hits;
    private long reads;
    private long bytesRead;
    private long doorbells;
    private long evictions;

    /** @param traffic asked for the bytes that searches have touched, one number per partition */
    PartitionCache(String region, long capacity, int partitions, int recordBytes, Supplier<long[]> traffic) {
        this.region = region;
        this.capacity = capacity;
        this.recordBytes = recordBytes;
        this.traffic = traffic;
        this.order = new EvictionOrder(partitions);
        this.needed = new int[partitions];
    }

    /** Reads under way together. */
    record Doorbell(List<CachedPartition> partitions, List<RemoteRegion.Transfer> transfers, int[] records) {}

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
        synchronized (this) {
            Directory.Place place = directory.partitions().get(partition);
            CachedPartition.Key key = new CachedPartition.Key(partition, place.generation());
            CachedPartition entry = entries.get(key);
            if (!closed) {
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
        waiting.end(new RemoteMemoryException(region, "is closed"));
        return null;
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

    /** Forgets a partition whose bytes are wrong; it must be pinned by the caller, and is released. */
    synchronized void discard(CachedPartition entry) {
        if (entries.get(entry.key) == entry && !entry.loading) {
            entries.remove(entry.key);
        }
        // With no entry in the map it is free when the last pin goes; until then its memory counts.
        entry.loaded = false;
        entry.pins--;
        free(entry);
        notifyAll();
    }

    private void free(CachedPartition entry) {
        CachedPartition.Memory memory = entry.memory;
        if (entry.pins == 0 && memory != null && !entry.loading) {
            entry.memory = null;
            held -= memory.bytes().byteSize();
            memory.arena().close();
        }
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
        List<Waiting> failed = new ArrayList<>();
        RemoteMemoryException tooLarge = null;
        Doorbell doorbell = new Doorbell(new ArrayList<>(), new ArrayList<>(), new int[most]);
        synchronized (this) {
            long until = System.nanoTime() + LONGEST_WAIT_MILLIS * 1_000_000;
            while (true) {
                if (closed && doorbellsUnderWay == 0 && pinned() == 0) {
                    return null;
                }
                if (!closed && doorbellsUnderWay < mostUnderWay) {
                    tooLarge = take(doorbell, most, failed);
                }
                long left = (until - System.nanoTime()) / 1_000_000;
                if (!doorbell.partitions().isEmpty() || tooLarge != null || left <= 0) {
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
            }
        }
        for (Waiting waiting : failed) {
            waiting.end(tooLarge);
        }
        return doorbell;
    }

    private int pinned() {
        return entries.values().stream().mapToInt(entry -> entry.pins).sum();
    }

    private @Nullable RemoteMemoryException take(Doorbell doorbell, int most, List<Waiting> failed) {
        for (Iterator<CachedPartition> queue = wanted.iterator();
                queue.hasNext() && doorbell.partitions().size() < most; ) {
            CachedPartition entry = queue.next();
            if (entry.memory == null && !makeRoom(entry, isStarved())) {
                if (entry.bytes() <= capacity) {
                    // In their order: the first that finds no room waits for it.
                    starvedSinceNanos = starvedSinceNanos == 0 ? System.nanoTime() : starvedSinceNanos;
                    return null;
                }
                queue.remove();
                entries.remove(entry.key);
                failed.addAll(entry.waiters);
                return new RemoteMemoryException(
                        region,
                        "has a partition " + entry.key.partition() + " of " + entry.bytes()
                                + " bytes with its log, more than the cache's " + capacity);
            }
            queue.remove();
            starvedSinceNanos = 0;
            int records =
                    entry.waiters.stream().mapToInt(Waiting::records).max().orElse(entry.records);
            doorbell.records()[doorbell.partitions().size()] = records;
            doorbell.partitions().add(entry);
            doorbell.transfers().add(entry.read(records, recordBytes));
        }
        return null;
    }

    private boolean isStarved() {
        return starvedSinceNanos != 0 && System.nanoTime() - starvedSinceNanos > MOST_STARVED_NANOS;
    }

    /** Gives an entry memory: free one, or that of another entry, a needed one too if it has waited for too long. */
    private boolean makeRoom(CachedPartition entry, boolean starved) {
        long bytes = entry.bytes();
        while (held + bytes > capacity) {
            CachedPartition victim = victim(starved);
            if (victim == null) {
                return false;
            }
            evictions++;
            entries.remove(victim.key);
            CachedPartition.Memory memory = victim.memory;
            if (memory != null && memory.bytes().byteSize() == bytes) {
                victim.memory = null;
                entry.memory = memory;
                return true;
            }
            victim.loaded = false;
            free(victim);
        }
        Arena arena = Arena.ofShared();
        entry.memory = new CachedPartition.Memory(arena, arena.allocate(bytes, 64));
        held += bytes;
        return true;
    }

    private @Nullable CachedPartition victim(boolean starved) {
        if (++loads % 64 == 1) {
            order.look(traffic.get());
        }
        CachedPartition victim = null;
        for (CachedPartition entry : entries.values()) {
            boolean kept = entry.pins > 0
                    || entry.loading
                    || entry.memory == null
                    || (needed[entry.key.partition()] > 0 && !starved);
            if (!kept
                    && (victim == null
                            || order.goesFirst(
                                    entry.key.partition(), entry.used, victim.key.partition(), victim.used))) {
                victim = entry;
            }
        }
        return victim;
    }

    /** Reads have ended. Bytes of those that failed may still come: their memory is left to them. */
    void ended(Doorbell doorbell, @Nullable RemoteMemoryException failure) {
        List<Waiting> goOn = new ArrayList<>();
        synchronized (this) {
            doorbellsUnderWay--;
            for (int i = 0; i < doorbell.partitions().size(); i++) {
                CachedPartition entry = doorbell.partitions().get(i);
                entry.loading = false;
                if (failure != null) {
                    goOn.addAll(entry.waiters);
                    entry.waiters.clear();
                    abandon(entry);
                    continue;
                }
                entry.loaded = true;
                entry.records = doorbell.records()[i];
                for (Iterator<Waiting> waiters = entry.waiters.iterator(); waiters.hasNext(); ) {
                    Waiting waiting = waiters.next();
                    if (waiting.records() <= entry.records) {
                        waiters.remove();
                        goOn.add(waiting);
                    }
                }
                if (!entry.waiters.isEmpty()) {
                    want(entry);
                }
            }
            notifyAll();
        }
        for (Waiting waiting : goOn) {
            waiting.end(failure);
        }
    }

    private void abandon(CachedPartition entry) {
        if (entry.loaded) {
            // What is there stays; only the end of its log is missing.
            return;
        }
        entries.remove(entry.key, entry);
        CachedPartition.Memory memory = entry.memory;
        if (memory != null) {
            // Never freed: a card may write to it whenever it likes. It counts no longer, so that the cache goes on.
            entry.memory = null;
            held -= memory.bytes().byteSize();
        }
    }

    /** Whether a partition is here, for reports and tests. */
    synchronized boolean holds(int partition) {
        return entries.values().stream().anyMatch(entry -> entry.loaded && entry.key.partition() == partition);
    }

    /** Fails all that is wanted; what is under way ends by itself. */
    void close() {
        List<Waiting> failed = new ArrayList<>();
        synchronized (this) {
            closed = true;
            for (CachedPartition entry : wanted) {
                failed.addAll(entry.waiters);
                entry.waiters.clear();
                entry.loading = false;
            }
            wanted.clear();
            notifyAll();
        }
        RemoteMemoryException why = new RemoteMemoryException(region, "is closed");
        failed.forEach(waiting -> waiting.end(why));
    }

    /** Frees all memory, when {@link #next} has said that nothing is under way. */
    synchronized void free() {
        for (CachedPartition entry : entries.values()) {
            entry.loading = false;
            free(entry);
        }
        entries.clear();
    }
}
