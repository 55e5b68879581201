package io.github.roost.core.pool;

import io.github.roost.core.Priority;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reserved places for the parts of one request in the rings of several workers. Not thread-safe. */
public final class Reservation {
    private final WorkerPool pool;
    private final Priority priority;
    private final int[] workers;
    private final long[] places;
    /** Fills released places: created before the first place is reserved, and not reused for places reserved after a release. */
    private Ring.@Nullable Hole hole;
    /** Workers of the parts before this index are to be woken. */
    private int wakeable;

    /** @param size maximum number of places */
    public Reservation(WorkerPool pool, Priority priority, int size) {
        this.pool = pool;
        this.priority = priority;
        this.workers = new int[size];
        this.places = new long[size];
        Arrays.fill(places, Ring.FULL);
    }

    /** Reserves a place for a part in a worker's ring; false if the ring is full. */
    boolean reserve(int index, int worker) {
        if (hole == null) {
            hole = new Ring.Hole();
        }
        places[index] = pool.reserve(worker, priority);
        workers[index] = worker;
        return places[index] != Ring.FULL;
    }

    /** Releases the places still reserved, last first, so that rings can undo reservations instead of leaving holes. */
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

    /** The number of places reserved at a worker. */
    int countAt(int worker) {
        int count = 0;
        for (int index = 0; index < places.length; index++) {
            if (places[index] != Ring.FULL && workers[index] == worker) {
                count++;
            }
        }
        return count;
    }

    /** Whether a place is reserved for a part. */
    boolean has(int index) {
        return index < places.length && places[index] != Ring.FULL;
    }

    /** Puts a part's task into its place; call {@link #wake} afterwards. */
    void put(int index, Task task) {
        long place = places[index];
        places[index] = Ring.FULL;
        pool.put(workers[index], priority, place, task);
        wakeable = index + 1;
    }

    /**
     * Wakes workers for the tasks that were put. Called after all tasks are in place: a worker that wakes earlier may preempt this
     * thread and would find places reserved but not filled. Throws nothing.
     */
    void wake() {
        try {
            for (int index = 0; index < wakeable; index++) {
                pool.wakeups().added(workers[index]);
            }
        } catch (OutOfMemoryError | StackOverflowError error) {
            pool.wakeups().missedWakeup();
        }
    }
}
