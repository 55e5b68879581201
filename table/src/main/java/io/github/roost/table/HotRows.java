package io.github.roost.table;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.topology.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Copies in memory of those rows of a version that are read often, in one ring. A row is added at its head. At its tail rows are evicted by second chance (CLOCK): one that was
 * read since it got there is copied to the head once more, and any other one is cold again. So the ring is both the hand of the clock and the
 * allocator, for rows of any length: there are no size classes, no free lists and no gaps but where the ring ends.
 *
 * <pre>
 * row      key 8, place in the file 8, bytes 4, whether it was read 4, then its bytes, up to a multiple of 8
 * ring     freed ... [evicted, readers may be there] ... tail ... [rows] ... head ... [free] ... freed + capacity
 * </pre>
 *
 * <p>All that changes is guarded by the lock, whose owner is the writer of the index. Readers are inside their {@link Readers} from before they look a key
 * up until they have copied its row. A row's bytes are written before the index gets its place, with release, so who finds the place sees them.
 * The index is told of another place first, and then all who were inside are waited for, and then the memory may be another row's: who has found the old
 * place has copied the row by then, and who comes later finds the new one. A row is never in no place: the one in the file is there always, or in the
 * {@link Spill}, where rows are put. Where a copy is moved beside a reader that notes it was read, the note may be lost.
 *
 * <p>A row that is put, replaced or taken out leaves a copy of the one before it in the ring, which is of no key any more. The tail tells such a copy from others by the index, which
 * does not lead to it: it gives the copy's key no other place, which would bring the old row back. That the index leads to a copy's memory is that copy's, as memory is another row's
 * only after the tail has passed it. A row is promoted only while the index has the place that it was read from, and no place in a file is ever another row's: so
 * what was read before a row was replaced is not promoted after.
 */
final class HotRows implements AutoCloseable {
    private static final int COLD_AT = 8;
    private static final int BYTES_AT = 16;
    private static final int TOUCHED_AT = 20;
    /** Bytes before those of a row. */
    static final int HEAD_BYTES = 24;
    /** In place of the bytes of a row: the ring goes on at its beginning. */
    private static final int GAP = -1;
    /** A ring from this size on asks for huge pages. */
    private static final long HUGE_FROM_BYTES = 4L << 20;
    /** Rows of a step, and bytes after which it ends: some microseconds. */
    private static final int STEP_ROWS = 8;

    private static final int STEP_BYTES = 1 << 15;
    /** Of the ring: what is kept for rows that get a second chance. */
    private static final int RESERVE = 64;
    /** Of the ring: eviction begins below this free share, and goes on up to twice as much. */
    private static final int MIN_FREE = 32;

    private final LongTable index;
    private final Readers readers;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final long capacity;
    /** Written under the lock. */
    private long enough;

    private final ReentrantLock lock = new ReentrantLock();

    /** Positions only grow; modulo the capacity they are places. */
    private long head;

    private long tail;
    private long freed;
    /** Whoever may be in what is between here and {@link #freed}, which is null where nobody may. */
    private Readers.@Nullable Leaving leaving;

    private long leavingUpTo;
    /** Bytes that the tail has passed in this turn: after a round of the ring, none gets another chance. */
    private long passed;

    private long rows;
    private long promoted;
    private long evicted;
    private long spared;
    private boolean isClosed;
    /** Written under the lock: until memory was wanted for the first time, every row that is read is promoted. */
    private volatile boolean wasFull;

    /**
     * Allocates.
     *
     * @param bytes at least twice what the longest row takes
     */
    HotRows(LongTable index, Readers readers, long bytes, int mostRowBytes) {
        this.index = index;
        this.readers = readers;
        this.capacity = bytes & -Long.BYTES;
        this.enough = Math.min(capacity, Math.max(2 * capacity / MIN_FREE, 2 * taken(mostRowBytes)));
        this.memory = capacity < HUGE_FROM_BYTES
                ? arena.allocate(capacity, Long.BYTES)
                : DomainMemory.allocate(capacity, arena).segment();
    }

    /** Bytes that a row takes. */
    static long taken(long rowBytes) {
        return HEAD_BYTES + rowBytes + Long.BYTES - 1 & -Long.BYTES;
    }

    /** What rows are read from; by who is inside. */
    MemorySegment memory() {
        return memory;
    }

    /** Where the bytes of a row begin, given its payload; notes that it is read. By who is inside. */
    long read(long payload) {
        long at = Places.unit(payload) << Values.UNIT_SHIFT;
        // A line that many read is not written by each.
        if (memory.get(JAVA_INT, at + TOUCHED_AT) == 0) {
            memory.set(JAVA_INT, at + TOUCHED_AT, 1);
        }
        return at + HEAD_BYTES;
    }

    /** How many bytes a row has that begin somewhere; by who is inside. */
    int bytes(long row) {
        return memory.get(JAVA_INT, row - HEAD_BYTES + BYTES_AT);
    }

    /** Whether memory was never wanted. */
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
     * Gives a key another row, which is in the spill; with a copy here, if it had one before, or memory was never wanted.
     *
     * @param cold its payload
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

    /** Takes a key out; whether it was there. */
    boolean remove(long key) {
        lock.lock();
        try {
            long before = index.remove(key);
            leave(before);
            return before != LongTable.ABSENT;
        } finally {
            lock.unlock();
        }
    }

    /** A row is of no key any more; whether there is a copy of it. */
    private boolean leave(long payload) {
        boolean isHere = payload != LongTable.ABSENT && !Places.isCold(payload);
        if (isHere) {
            rows--;
            evicted++;
        }
        return isHere;
    }

    /**
     * Adds a row, unless it is there by now, there is no room, or somebody else changes something: then the row is read from the file once more.
     *
     * @param cold its payload so far
     * @return whether rows should be evicted
     */
    boolean promote(long key, long cold, MemorySegment from, long at, int bytes) {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            if (isClosed || index.get(key, LongTable.ABSENT) != cold) {
                return false;
            }
            return add(key, cold, from, at, bytes);
        } finally {
            lock.unlock();
        }
    }

    /** Adds a row to the head, if there is room; whether rows should be evicted. */
    private boolean add(long key, long cold, MemorySegment from, long at, int bytes) {
        if (tail == head && freed == head) {
            // Empty: so that the longest row finds room, wherever the ring would end.
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

    /** Takes room at the head: its place, or -1 for none. */
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
     * Goes on evicting. Waits for nobody: who might be in what is to be freed is asked for at the next step.
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

    /** Has the tail pass a row, which is cold afterwards or at the head. */
    private void pass() {
        long place = tail % capacity;
        long left = capacity - place;
        if (left < HEAD_BYTES || memory.get(JAVA_INT, place + BYTES_AT) == GAP) {
            tail += left;
            return;
        }
        long key = memory.get(JAVA_LONG, place);
        long bytes = taken(memory.get(JAVA_INT, place + BYTES_AT));
        if (index.get(key, LongTable.ABSENT) != place >>> Values.UNIT_SHIFT) {
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
     * Counts.
     *
     * @param bytes of the ring
     * @param rows that are in it
     * @param promoted rows, since the version was loaded
     * @param evicted of these, or replaced or taken out while they were there
     * @param spared how often a row has got a second chance
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

    /** Frees the memory; nobody is inside, and nobody changes the index any more. */
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
