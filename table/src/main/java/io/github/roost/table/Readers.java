package io.github.roost.table;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Who reads a table beside its writer, and the grace period: a wait for those who read right now. Thread-safe.
 *
 * <p>Every reader counts its entries and exits in a cell of its own, which nobody else writes: an odd count means inside. To
 * enter is a store and a full fence, then what the reader reads of the table. The writer stores what it changed, then a full
 * fence, then it reads the cells. So if it sees a reader outside, that reader's next entry comes after the fence, and sees the
 * change; if it sees it inside, it waits until the count is another. A reader that joins publishes its cell before it first
 * enters, by the same argument. Readers never wait; a writer waits for a lookup or a batch of them, not for a reader that
 * comes back time and again.
 */
final class Readers {
    /** Longs of a cell: no two counts share a cache line, nor a pair of lines that are fetched together. */
    private static final int CELL = 32;

    private static final int COUNT = CELL / 2;
    private static final int SPINS = 100;
    private static final long PARK_NANOS = 20_000;

    /** Written under the lock of this. */
    private volatile AtomicLongArray[] cells = {};

    /** Adds a reader: its cell, for {@link #enter} and {@link #exit} by one thread at a time. */
    synchronized AtomicLongArray join() {
        AtomicLongArray cell = new AtomicLongArray(CELL);
        AtomicLongArray[] more = Arrays.copyOf(cells, cells.length + 1);
        more[cells.length] = cell;
        cells = more;
        return cell;
    }

    /** Takes out a reader that is outside. */
    synchronized void leave(AtomicLongArray cell) {
        cells = Arrays.stream(cells).filter(other -> other != cell).toArray(AtomicLongArray[]::new);
    }

    /** How many there are. */
    int count() {
        return cells.length;
    }

    /** From here on the writer waits for the reader. An exit that an error kept from happening is made up for here. */
    static void enter(AtomicLongArray cell) {
        cell.set(COUNT, cell.getPlain(COUNT) + 1 | 1);
    }

    static void exit(AtomicLongArray cell) {
        cell.setRelease(COUNT, cell.getPlain(COUNT) + 1 & ~1L);
    }

    /** Returns when all who were inside when it was called have been outside since. */
    void awaitThoseInside() {
        VarHandle.fullFence();
        for (AtomicLongArray cell : cells) {
            long inside = cell.get(COUNT);
            if ((inside & 1) != 0) {
                awaitExit(cell, inside);
            }
        }
    }

    /** Those who were inside at a moment, for a writer that has something else to do until they have left. */
    static final class Leaving {
        private final AtomicLongArray[] cells;
        private final long[] counts;

        private Leaving(AtomicLongArray[] cells) {
            this.cells = cells;
            this.counts = new long[cells.length];
            for (int i = 0; i < cells.length; i++) {
                counts[i] = cells[i].get(COUNT);
            }
        }

        /** Whether all of them have been outside since. */
        boolean areOut() {
            for (int i = 0; i < cells.length; i++) {
                if ((counts[i] & 1) != 0 && cells[i].getAcquire(COUNT) == counts[i]) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Those who are inside now; what {@link #awaitThoseInside} waits for. */
    Leaving thoseInside() {
        VarHandle.fullFence();
        return new Leaving(cells);
    }

    private static void awaitExit(AtomicLongArray cell, long inside) {
        for (int spins = 0; cell.getAcquire(COUNT) == inside; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                // Maybe the reader's thread does not run: give it the core.
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
    }
}
