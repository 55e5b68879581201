package io.github.roost.core.monitor;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counters of searches and the bytes they touch, per slot.
 *
 * <p>Each domain has its own counters, so counting moves no cache line between domains; the traffic of a slot is the sum over the domains.
 * Counters are in chunks that are appended and never moved, so {@link #add} races with growth only on the volatile array of chunks. Totals
 * only grow, until {@link #clear} before a slot is reused. Thread-safe.
 */
public final class TrafficMonitor {
    private static final int CHUNK_BITS = 12;
    private static final int CHUNK_SLOTS = 1 << CHUNK_BITS;

    private final int domains;
    /** One row of chunks per domain; replaced as a whole by {@link #ensureCapacity}, guarded by this. */
    private volatile AtomicLongArray[][] chunks;

    /**
     * Creates a monitor without slots.
     *
     * @param domains number of cache domains
     */
    public TrafficMonitor(int domains) {
        this.domains = domains;
        this.chunks = new AtomicLongArray[domains][0];
    }

    /**
     * Allocates counters. Must be called before the first {@link #add} to a slot.
     *
     * @param slots the number of slots
     */
    public synchronized void ensureCapacity(int slots) {
        int needed = (slots + CHUNK_SLOTS - 1) >>> CHUNK_BITS;
        int present = chunks[0].length;
        if (needed <= present) {
            return;
        }
        AtomicLongArray[][] grown = new AtomicLongArray[domains][];
        for (int domain = 0; domain < domains; domain++) {
            grown[domain] = Arrays.copyOf(chunks[domain], needed);
            for (int chunk = present; chunk < needed; chunk++) {
                grown[domain][chunk] = new AtomicLongArray(2 * CHUNK_SLOTS);
            }
        }
        chunks = grown;
    }

    /**
     * Counts one search.
     *
     * @param domain the domain of the worker that ran it
     * @param slot the slot of its mapping id
     * @param bytes the bytes that it touched
     */
    public void add(int domain, int slot, long bytes) {
        AtomicLongArray chunk = chunks[domain][slot >>> CHUNK_BITS];
        int index = indexInChunk(slot);
        chunk.getAndAdd(index, bytes);
        chunk.getAndAdd(index + 1, 1);
    }

    /**
     * Adds bytes of a search that is not over, without counting a search.
     *
     * @param domain the domain of the worker that ran the slice
     * @param slot the slot of its mapping id
     * @param bytes the bytes that it touched
     */
    public void addBytes(int domain, int slot, long bytes) {
        chunks[domain][slot >>> CHUNK_BITS].getAndAdd(indexInChunk(slot), bytes);
    }

    /** Places consecutive slots on different cache lines, since workers count them at the same time. */
    private static int indexInChunk(int slot) {
        int inChunk = slot & (CHUNK_SLOTS - 1);
        int half = CHUNK_BITS / 2;
        return 2 * (((inChunk << half) | (inChunk >>> half)) & (CHUNK_SLOTS - 1));
    }

    /**
     * Returns the totals since the start, or since a slot was cleared.
     *
     * @param slots the number of slots
     * @return a snapshot that may miss concurrent counts
     */
    public Traffic totals(int slots) {
        long[] bytes = new long[slots];
        long[] searches = new long[slots];
        for (AtomicLongArray[] row : chunks) {
            for (int slot = 0; slot < slots; slot++) {
                AtomicLongArray chunk = row[slot >>> CHUNK_BITS];
                int index = indexInChunk(slot);
                bytes[slot] += chunk.getOpaque(index);
                searches[slot] += chunk.getOpaque(index + 1);
            }
        }
        return new Traffic(bytes, searches);
    }

    /**
     * Resets slots to zero for their next owner.
     *
     * @param from the first slot
     * @param to the slot after the last
     */
    public void clear(int from, int to) {
        for (AtomicLongArray[] row : chunks) {
            for (int slot = from; slot < to; slot++) {
                AtomicLongArray chunk = row[slot >>> CHUNK_BITS];
                int index = indexInChunk(slot);
                chunk.set(index, 0);
                chunk.set(index + 1, 0);
            }
        }
    }
}
