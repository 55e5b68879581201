package io.github.roost.core.pool;

import io.github.roost.core.task.Priority;
import java.util.List;

/** Places for the parts of one query, in rings of several workers, so that all are placed or none. One thread's. */
public final class Reservation {
    private final WorkerPool pool;
    private final Priority priority;
    private final int[] workers;
    private final long[] places;
    private int reserved;

    /** @param size how many places are wanted, at least 1 */
    public Reservation(WorkerPool pool, Priority priority, int size) {
        this.pool = pool;
        this.priority = priority;
        this.workers = new int[size];
        this.places = new long[size];
    }

    /** Reserves the next place, in a worker's ring; false when that is full. */
    public boolean reserve(int worker) {
        long place = pool.reserve(worker, priority);
        if (place == Ring.FULL) {
            return false;
        }
        workers[reserved] = worker;
        places[reserved] = place;
        reserved++;
        return true;
    }

    /** Gives back what has been reserved, last first, as rings like it best. */
    public void release() {
        while (reserved > 0) {
            reserved--;
            pool.release(workers[reserved], priority, places[reserved]);
        }
    }

    /** Puts a task into each place. */
    public void put(List<? extends Task> tasks) {
        for (int i = 0; i < reserved; i++) {
            pool.put(workers[i], priority, places[i], tasks.get(i));
        }
        reserved = 0;
    }
}
