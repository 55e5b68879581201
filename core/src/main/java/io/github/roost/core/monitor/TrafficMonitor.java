package io.github.roost.core.monitor;

import io.github.roost.core.mapping.Traffic;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts searches and the bytes they touched, per slot.
 *
 * <p>Each domain has counters of its own, so counting moves no cache line between domains; a sum over the domains is the
 * traffic of a slot. Counters sit in chunks that are appended and never moved: {@link #add} races with growth only on
 * the volatile array of chunks. Totals only grow, until {@link #clear} at re-use of a slot. Thread-safe.
 */
public final class TrafficMonitor {
    private static final int CHUNK_BITS = 12;
    private static final int CHUNK_SLOTS = 1 << CHUNK_BITS;

    private final int domains;
    /** One row of chunks a domain; replaced as a whole by {@link #ensureCapacity}, under the lock of this object. */
    private volatile AtomicLongArray[][] chunks;

    /**
     * Counts nothing yet, for no slots.
     *
     * @param domains number of cache domains
     */
    public TrafficMonitor(int domains) {
        this.domains = domains;
        this.chunks = new AtomicLongArray[domains][0];
    }

    /**
     * Makes room for slots. Must happen before the first {@link #add} to them.
     *
     * @param slots from 0 to this, exclusive
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
     * @param domain of the worker that ran it
     * @param slot of its mapping id
     * @param bytes that it touched
     */
    public void add(int domain, int slot, long bytes) {
        AtomicLongArray chunk = chunks[domain][slot >>> CHUNK_BITS];
        int index = indexInChunk(slot);
        chunk.getAndAdd(index, bytes);
        chunk.getAndAdd(index + 1, 1);
    }

    /**
     * Counts bytes of a search that is not over.
     *
     * @param domain of the worker that ran a part of it
     * @param slot of its mapping id
     * @param bytes that it touched
     */
    public void addBytes(int domain, int slot, long bytes) {
        chunks[domain][slot >>> CHUNK_BITS].getAndAdd(indexInChunk(slot), bytes);
    }

    /** Consecutive slots, which different workers count at once, lie on cache lines of their own. */
    private static int indexInChunk(int slot) {
        int inChunk = slot & (CHUNK_SLOTS - 1);
        int half = CHUNK_BITS / 2;
        return 2 * (((inChunk << half) | (inChunk >>> half)) & (CHUNK_SLOTS - 1));
    }

    /**
     * The totals since the start, or since a slot was cleared.
     *
     * @param slots from 0 to this, exclusive
     * @return a snapshot that may miss what is being counted
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
     * Sets slots to zero, for their next owner.
     *
     * @param from the first
     * @param to the last, exclusive
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
