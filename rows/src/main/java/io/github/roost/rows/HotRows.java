package io.github.roost.rows;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.neighborhash.spi.Readers;
import io.github.roost.topology.system.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A ring of in-memory copies of a version's frequently read rows. Rows are added at the head. At the tail rows are evicted by second chance (CLOCK):
 * a row that was read since it was added is copied to the head again, any other row becomes cold. So the ring is both the clock and the allocator,
 * for rows of any length: there are no size classes, no free lists, and gaps only where the ring wraps around.
 *
 * <pre>
 * row      key 8, place in the file 8, bytes 4, whether it was read 4, then its bytes, up to a multiple of 8
 * ring     freed ... [evicted, readers may be there] ... tail ... [rows] ... head ... [free] ... freed + capacity
 * </pre>
 *
 * <p>All changes are made under the lock, whose owner is the index's writer. A reader is in a read section ({@link Readers}) from before it looks up
 * a key until it has copied the row. A row's bytes are written before its place is published in the index with release, so a reader that finds the
 * place sees the bytes. Memory is reused in three steps: the index gets the row's new place, a grace period passes, then the memory is free. Readers
 * that found the old place have copied the row by then, and later readers find the new place. Every row also has a permanent place, in the version's
 * file or in the {@link Spill}. If a copy is moved while a reader marks it as read, the mark may be lost.
 *
 * <p>Replacing or removing a row leaves its old copy in the ring. The tail recognizes such a copy because the index does not point to it, and drops
 * it without changing the index, which would bring the old row back. If the index points to a copy's memory, it means this copy, as memory is reused
 * only after the tail has passed it. A row is promoted only if the index still has the place that it was read from, and a place in a file is never
 * reused: so a row that was read before it was replaced is not promoted afterwards.
 */
final class HotRows implements AutoCloseable {
    private static final int COLD_AT = 8;
    private static final int BYTES_AT = 16;
    private static final int TOUCHED_AT = 20;
    /** Bytes of a row's header. */
    static final int HEAD_BYTES = 24;
    /** Stored instead of a row's length: the ring continues at its beginning. */
    private static final int GAP = -1;
    /** A ring of at least this size requests huge pages. */
    private static final long HUGE_FROM_BYTES = 4L << 20;
    /** The maximum rows per eviction step, and the bytes after which it ends: some microseconds. */
    private static final int STEP_ROWS = 8;

    private static final int STEP_BYTES = 1 << 15;
    /** 1/RESERVE of the ring is reserved for rows that get a second chance. */
    private static final int RESERVE = 64;
    /** Eviction begins if less than 1/MIN_FREE of the ring is free, and ends at {@link #enough}. */
    private static final int MIN_FREE = 32;

    private final NeighborHashMap index;
    private final Readers readers;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final long capacity;
    /** The free bytes at which eviction ends. Written under the lock. */
    private long enough;

    private final ReentrantLock lock = new ReentrantLock();

    /** Positions only grow; modulo the capacity they are offsets in the memory. */
    private long head;

    private long tail;
    private long freed;
    /** The readers that may still use the memory from {@link #freed} to {@link #leavingUpTo}; null if none is awaited. */
    private Readers.@Nullable Leaving leaving;

    private long leavingUpTo;
    /** Bytes that the tail has passed in this eviction; after a full round of the ring, rows get no second chance. */
    private long passed;

    private long rows;
    private long promoted;
    private long evicted;
    private long spared;
    private boolean isClosed;
    /** Whether the ring has been full; before that, every row that is read is promoted. Written under the lock. */
    private volatile boolean wasFull;

    /**
     * Allocates the ring.
     *
     * @param bytes its size; at least twice {@link #taken} of the longest row
     */
    HotRows(NeighborHashMap index, Readers readers, long bytes, int maxRowBytes) {
        this.index = index;
        this.readers = readers;
        this.capacity = bytes & -Long.BYTES;
        this.enough = Math.min(capacity, Math.max(2 * capacity / MIN_FREE, 2 * taken(maxRowBytes)));
        this.memory = capacity < HUGE_FROM_BYTES
                ? arena.allocate(capacity, Long.BYTES)
                : DomainMemory.allocate(capacity, arena);
    }

    /** The ring bytes that a row takes. */
    static long taken(long rowBytes) {
        return HEAD_BYTES + rowBytes + Long.BYTES - 1 & -Long.BYTES;
    }

    /** The ring's memory. To be read in a read section. */
    MemorySegment memory() {
        return memory;
    }

    /** The offset of a row's bytes, given its payload; marks the row as read. To be called in a read section. */
    long read(long payload) {
        long at = Places.unit(payload) << Values.UNIT_SHIFT;
        // Avoids that every reader writes a shared cache line.
        if (memory.get(JAVA_INT, at + TOUCHED_AT) == 0) {
            memory.set(JAVA_INT, at + TOUCHED_AT, 1);
        }
        return at + HEAD_BYTES;
    }

    /** The length of the row whose bytes begin at an offset. To be called in a read section. */
    int bytes(long row) {
        return memory.get(JAVA_INT, row - HEAD_BYTES + BYTES_AT);
    }

    /** Whether the ring has never been full. */
    boolean isFilling() {
        return !wasFull;
    }

    /**
     * Refuses a row that is too long.
     *
     * @throws IllegalArgumentException if there is not room for twice the row
     */
    void requireRoom(long rowBytes) {
        if (2 * taken(rowBytes) > capacity) {
            throw new IllegalArgumentException("a row must have " + (capacity / 2 - HEAD_BYTES)
                    + " bytes at most, half of" + " the memory for values, got " + rowBytes);
        }
    }

    /**
     * Sets the row of a key, which is in the spill already. Adds a copy to the ring if the key had one, or if the ring has never been full.
     *
     * @param cold the row's payload
     * @return whether rows should be evicted
     * @throws OutOfMemoryError if the index has no memory for the key; nothing has changed
     */
    boolean put(long key, long cold, MemorySegment row) {
        lock.lock();
        try {
            long before = index.put(key, cold);
            enough = Math.min(capacity, Math.max(enough, 2 * taken(row.byteSize())));
            boolean wasHere = leave(before);
            return (wasHere || !wasFull) && add(key, cold, row, 0, (int) row.byteSize());
        } finally {
            lock.unlock();
        }
    }

    /** Removes a key; returns whether it was present. */
    boolean remove(long key) {
        lock.lock();
        try {
            long before = index.remove(key);
            leave(before);
            return before != NeighborHashMap.ABSENT;
        } finally {
            lock.unlock();
        }
    }

    /** Updates the counters for a replaced or removed row; returns whether the ring has a copy of it. */
    private boolean leave(long payload) {
        boolean isHere = payload != NeighborHashMap.ABSENT && !Places.isCold(payload);
        if (isHere) {
            rows--;
            evicted++;
        }
        return isHere;
    }

    /**
     * Adds a copy of a cold row. Does nothing if the row's place has changed, the ring has no room, or another thread holds the lock; then the next
     * read of the row goes to the file again.
     *
     * @param cold the payload that the row was read by
     * @return whether rows should be evicted
     */
    boolean promote(long key, long cold, MemorySegment from, long at, int bytes) {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            if (isClosed || index.get(key, NeighborHashMap.ABSENT) != cold) {
                return false;
            }
            return add(key, cold, from, at, bytes);
        } finally {
            lock.unlock();
        }
    }

    /** Adds a row at the head, if there is room; returns whether rows should be evicted. */
    private boolean add(long key, long cold, MemorySegment from, long at, int bytes) {
        if (tail == head && freed == head) {
            // The ring is empty: begin at 0, so that the longest row fits before the ring's end.
            head = 0;
            tail = 0;
            freed = 0;
        }
        long place = room(taken(bytes), capacity / RESERVE);
        if (place >= 0) {
            memory.set(JAVA_LONG, place, key);
            memory.set(JAVA_LONG, place + COLD_AT, cold);
            memory.set(JAVA_INT, place + BYTES_AT, bytes);
            memory.set(JAVA_INT, place + TOUCHED_AT, 0);
            MemorySegment.copy(from, at, memory, place + HEAD_BYTES, bytes);
            index.put(key, place >>> Values.UNIT_SHIFT);
            rows++;
            promoted++;
        }
        boolean isFull = place < 0 || free() < capacity / MIN_FREE;
        if (isFull && !wasFull) {
            wasFull = true;
        }
        return isFull;
    }

    private long free() {
        return capacity - (head - freed);
    }

    /** Allocates at the head, leaving {@code spare} bytes free; returns the offset, or -1 if there is no room. */
    private long room(long bytes, long spare) {
        long place = head % capacity;
        long gap = place + bytes > capacity ? capacity - place : 0;
        if (gap + bytes + spare > free()) {
            return -1;
        }
        if (gap >= HEAD_BYTES) {
            memory.set(JAVA_INT, place + BYTES_AT, GAP);
        }
        head += gap + bytes;
        return gap > 0 ? 0 : place;
    }

    /**
     * Does one step of eviction. Never blocks: whether readers have left the memory to be freed is checked by the next step.
     *
     * @return whether there is more to do
     */
    boolean evict() {
        if (!lock.tryLock()) {
            return true;
        }
        try {
            if (isClosed) {
                return false;
            }
            if (leaving != null) {
                if (!leaving.areOut()) {
                    return true;
                }
                freed = leavingUpTo;
                leaving = null;
            }
            if (free() >= enough || tail == head) {
                passed = 0;
                return false;
            }
            long begin = tail;
            for (int i = 0; i < STEP_ROWS && tail - begin < STEP_BYTES && tail < head; i++) {
                pass();
            }
            leavingUpTo = tail;
            leaving = readers.thoseInside();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Moves the tail past one row, which is then cold or copied to the head. */
    private void pass() {
        long place = tail % capacity;
        long left = capacity - place;
        if (left < HEAD_BYTES || memory.get(JAVA_INT, place + BYTES_AT) == GAP) {
            tail += left;
            return;
        }
        long key = memory.get(JAVA_LONG, place);
        long bytes = taken(memory.get(JAVA_INT, place + BYTES_AT));
        if (index.get(key, NeighborHashMap.ABSENT) != place >>> Values.UNIT_SHIFT) {
            tail += bytes;
            return;
        }
        boolean isRead = memory.get(JAVA_INT, place + TOUCHED_AT) != 0 && passed < capacity;
        long next = isRead ? room(bytes, 0) : -1;
        if (next >= 0) {
            MemorySegment.copy(memory, place, memory, next, bytes);
            memory.set(JAVA_INT, next + TOUCHED_AT, 0);
            index.put(key, next >>> Values.UNIT_SHIFT);
            spared++;
        } else {
            index.put(key, memory.get(JAVA_LONG, place + COLD_AT));
            rows--;
            evicted++;
        }
        tail += bytes;
        passed += bytes;
    }

    /**
     * Statistics since the version was loaded.
     *
     * @param bytes the ring's size
     * @param rows rows in the ring now
     * @param promoted rows added to the ring
     * @param evicted rows evicted from the ring, including replaced and removed rows
     * @param spared second chances given to rows
     */
    record Counts(long bytes, long rows, long promoted, long evicted, long spared) {}

    Counts counts() {
        lock.lock();
        try {
            return new Counts(capacity, rows, promoted, evicted, spared);
        } finally {
            lock.unlock();
        }
    }

    /** Frees the memory. No thread may be in a read section, or change the index afterwards. */
    @Override
    public void close() {
        lock.lock();
        try {
            isClosed = true;
            arena.close();
        } finally {
            lock.unlock();
        }
    }
}
