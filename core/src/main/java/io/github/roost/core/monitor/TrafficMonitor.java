package io.github.roost.core.monitor;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Counters of searches and the bytes they touch, per slot.
 *
 * <p>Each worker has its own counters, of which it is the only writer, so that counting costs no atomic operation and moves no cache line; each domain
 * has further ones for other threads. The traffic of a slot is the sum of all. Counters are in chunks that are never moved; a worker's are made
 * when it first needs them. Totals only grow, until {@link #clear} before a slot is reused. Thread-safe.
 */
public final class TrafficMonitor {
    private static final int CHUNK_BITS = 8;
    private static final int CHUNK_SLOTS = 1 << CHUNK_BITS;

    /** One row of chunks per domain, then one per worker; changed under the lock of this, and read by any thread. */
    private final AtomicReferenceArray<AtomicReferenceArray<AtomicLongArray>> rows;

    private final int domains;
    /** Number of chunks of a row; guarded by this. */
    private int chunks;

    /**
     * Creates a monitor without slots.
     *
     * @param domains number of cache domains
     * @param workers number of workers
     */
    public TrafficMonitor(int domains, int workers) {
        this.domains = domains;
        this.rows = new AtomicReferenceArray<>(domains + workers);
        for (int row = 0; row < rows.length(); row++) {
            rows.set(row, new AtomicReferenceArray<>(0));
        }
    }

    /**
     * Allocates counters. Must be called before the first {@link #add} to a slot.
     *
     * @param slots the number of slots
     */
    public synchronized void ensureCapacity(int slots) {
        int needed = (slots + CHUNK_SLOTS - 1) >>> CHUNK_BITS;
        if (needed <= chunks) {
            return;
        }
        for (int row = 0; row < rows.length(); row++) {
            AtomicReferenceArray<AtomicLongArray> before = rows.get(row);
            AtomicReferenceArray<AtomicLongArray> grown = new AtomicReferenceArray<>(needed);
            for (int chunk = 0; chunk < needed; chunk++) {
                if (chunk < before.length()) {
                    grown.setPlain(chunk, before.get(chunk));
                } else if (row < domains) {
                    grown.setPlain(chunk, newChunk());
                }
            }
            rows.set(row, grown);
        }
        // Last: without memory it throws, and is called again.
        chunks = needed;
    }

    private static AtomicLongArray newChunk() {
        return new AtomicLongArray(2 * CHUNK_SLOTS);
    }

    /**
     * Counts one search.
     *
     * @param domain the domain of the worker that ran it
     * @param slot the slot of its mapping id
     * @param bytes the bytes that it touched
     */
    public void add(int domain, int slot, long bytes) {
        AtomicLongArray chunk = rows.get(domain).get(slot >>> CHUNK_BITS);
        int index = indexInChunk(slot);
        chunk.getAndAdd(index, bytes);
        chunk.getAndIncrement(index + 1);
    }

    /**
     * Adds bytes of a search that is not over, without counting a search.
     *
     * @param domain the domain of the worker that ran the slice
     * @param slot the slot of its mapping id
     * @param bytes the bytes that it touched
     */
    public void addBytes(int domain, int slot, long bytes) {
        rows.get(domain).get(slot >>> CHUNK_BITS).getAndAdd(indexInChunk(slot), bytes);
    }

    /**
     * Adds traffic in the counters of a worker, of which the caller is the only writer.
     *
     * @param worker the worker
     * @param slot the slot of a mapping id
     * @param bytes bytes touched
     * @param searches 1 for a search, 0 for a slice of one that has been counted
     */
    public void addOwn(int worker, int slot, long bytes, int searches) {
        AtomicLongArray chunk = rows.get(domains + worker).get(slot >>> CHUNK_BITS);
        if (chunk == null) {
            chunk = ownChunk(domains + worker, slot >>> CHUNK_BITS);
        }
        int index = indexInChunk(slot);
        chunk.setOpaque(index, chunk.getPlain(index) + bytes);
        chunk.setOpaque(index + 1, chunk.getPlain(index + 1) + searches);
    }

    private synchronized AtomicLongArray ownChunk(int row, int number) {
        AtomicLongArray chunk = newChunk();
        rows.get(row).set(number, chunk);
        return chunk;
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
        for (int row = 0; row < rows.length(); row++) {
            AtomicReferenceArray<AtomicLongArray> counters = rows.get(row);
            for (int slot = 0; slot < slots; slot++) {
                AtomicLongArray chunk = counters.get(slot >>> CHUNK_BITS);
                if (chunk == null) {
                    slot |= CHUNK_SLOTS - 1;
                    continue;
                }
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
        for (int row = 0; row < rows.length(); row++) {
            AtomicReferenceArray<AtomicLongArray> counters = rows.get(row);
            for (int slot = from; slot < to; slot++) {
                AtomicLongArray chunk = counters.get(slot >>> CHUNK_BITS);
                if (chunk != null) {
                    int index = indexInChunk(slot);
                    chunk.set(index, 0);
                    chunk.set(index + 1, 0);
                }
            }
        }
    }
}
