package io.github.roost.core.pool;

import io.github.roost.core.task.Priority;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Places for the parts of one request, in rings of several workers, so that all are placed or none. One thread's. */
public final class Reservation {
    private final WorkerPool pool;
    private final Priority priority;
    private final int[] workers;
    private final long[] places;
    /** Fills places that are given back: made before the first of them is reserved, and never used for later ones. */
    private Ring.@Nullable Hole hole;
    /** Tasks were put for the first so many parts. */
    private int wakeable;

    /** @param size how many places are wanted at most */
    public Reservation(WorkerPool pool, Priority priority, int size) {
        this.pool = pool;
        this.priority = priority;
        this.workers = new int[size];
        this.places = new long[size];
        Arrays.fill(places, Ring.FULL);
    }

    /** Reserves a place for a part in a worker's ring; false when that is full. */
    boolean reserve(int index, int worker) {
        if (hole == null) {
            hole = new Ring.Hole();
        }
        places[index] = pool.reserve(worker, priority);
        workers[index] = worker;
        return places[index] != Ring.FULL;
    }

    /** Gives back what is reserved still, last first, as rings like it best. */
    public void release() {
        Ring.Hole filler = hole;
        if (filler == null) {
            return;
        }
        hole = null;
        for (int index = places.length - 1; index >= 0; index--) {
            if (places[index] != Ring.FULL) {
                long place = places[index];
                places[index] = Ring.FULL;
                pool.release(workers[index], priority, place, filler);
            }
        }
    }

    /** Whether a place is reserved for a part. */
    boolean has(int index) {
        return index < places.length && places[index] != Ring.FULL;
    }

    /** Puts a part's task into its place; {@link #wake} follows. */
    void put(int index, Task task) {
        long place = places[index];
        places[index] = Ring.FULL;
        pool.put(workers[index], priority, place, task);
        wakeable = index + 1;
    }

    /**
     * Wakes those who are to run what was put, once all was: a worker that wakes up may take the core of who puts the rest,
     * and would find places that are reserved and not filled. Throws nothing.
     */
    void wake() {
        try {
            for (int index = 0; index < wakeable; index++) {
                pool.added(workers[index]);
            }
        } catch (OutOfMemoryError | StackOverflowError struck) {
            pool.overlooked();
        }
    }
}
