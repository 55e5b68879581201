package io.github.roost.neighborhash.spi;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * The concurrent readers of a table, and the grace period: a wait for all read sections that are open. Thread-safe.
 *
 * <p>A reader encloses its accesses in a read section, from {@link #enter} to {@link #exit}. It counts both in its own cell, which
 * no other thread writes: an odd count means that it is inside. To enter is a store and a full fence, then the reads of the table.
 * The writer stores its changes, then a full fence, then it reads the cells. So if it sees a reader outside, that reader's next
 * entry comes after the fence, and sees the changes; if it sees a reader inside, it waits until the count changes. By the same
 * argument a new reader publishes its cell before it first enters. Readers never wait. A writer waits for at most one read section
 * per reader, a lookup or a batch of lookups, however often a reader enters again.
 */
public final class Readers {
    /** Longs per cell, so that no two counts share a cache line, or a pair of lines that the CPU prefetches together. */
    private static final int CELL = 32;

    private static final int COUNT = CELL / 2;
    private static final int SPINS = 100;
    private static final long PARK_NANOS = 20_000;

    /** Written under the lock of this. */
    private volatile AtomicLongArray[] cells = {};

    /** Makes readers of which none has joined. */
    public Readers() {}

    /** {@return the cell of a new reader, for {@link #enter} and {@link #exit} by one thread at a time} */
    public synchronized AtomicLongArray join() {
        AtomicLongArray cell = new AtomicLongArray(CELL);
        AtomicLongArray[] more = Arrays.copyOf(cells, cells.length + 1);
        more[cells.length] = cell;
        cells = more;
        return cell;
    }

    /**
     * Removes a reader.
     *
     * @param cell its cell; it must be outside
     */
    public synchronized void leave(AtomicLongArray cell) {
        cells = Arrays.stream(cells).filter(other -> other != cell).toArray(AtomicLongArray[]::new);
    }

    /** {@return the number of readers} */
    public int count() {
        return cells.length;
    }

    /**
     * Begins a read section. Tolerates that an error prevented the last exit.
     *
     * @param cell the reader's cell
     */
    public static void enter(AtomicLongArray cell) {
        cell.set(COUNT, cell.getPlain(COUNT) + 1 | 1);
    }

    /**
     * Ends a read section.
     *
     * @param cell the reader's cell
     */
    public static void exit(AtomicLongArray cell) {
        cell.setRelease(COUNT, cell.getPlain(COUNT) + 1 & ~1L);
    }

    /** A grace period: returns when all readers that were inside at the call have been outside since. */
    public void awaitThoseInside() {
        VarHandle.fullFence();
        for (AtomicLongArray cell : cells) {
            long inside = cell.get(COUNT);
            if ((inside & 1) != 0) {
                awaitExit(cell, inside);
            }
        }
    }

    /** A snapshot of the readers inside, for a writer that polls instead of waiting. */
    public static final class Leaving {
        private final AtomicLongArray[] cells;
        private final long[] counts;

        private Leaving(AtomicLongArray[] cells) {
            this.cells = cells;
            this.counts = new long[cells.length];
            for (int i = 0; i < cells.length; i++) {
                counts[i] = cells[i].get(COUNT);
            }
        }

        /** {@return whether all these readers have been outside since} */
        public boolean areOut() {
            for (int i = 0; i < cells.length; i++) {
                if ((counts[i] & 1) != 0 && cells[i].getAcquire(COUNT) == counts[i]) {
                    return false;
                }
            }
            return true;
        }
    }

    /** {@return the readers inside now, which {@link #awaitThoseInside} would wait for} */
    public Leaving thoseInside() {
        VarHandle.fullFence();
        return new Leaving(cells);
    }

    private static void awaitExit(AtomicLongArray cell, long inside) {
        for (int spins = 0; cell.getAcquire(COUNT) == inside; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                // The reader's thread may be descheduled: give it the core.
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
    }
}
