package io.github.roost.core.pool;

import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * A worker's bounded queue: many producers; the owner and thieves consume, first in first out.
 *
 * <p>A place is reserved before a task is put, so that several tasks can be placed all or none: a put after a
 * reservation cannot find the ring full. The reservation is given back after the task was taken out, so the queue never
 * holds more than the reserved count, and {@link #waiting} is never less than what is in it.
 */
final class Ring {
    private final int capacity;
    private final MpmcAtomicArrayQueue<Task> tasks;
    private final AtomicInteger reserved = new PaddedInteger();

    Ring(int capacity) {
        this.capacity = capacity;
        this.tasks = new MpmcAtomicArrayQueue<>(Math.max(2, capacity));
    }

    /** Reserves one place; false when the ring is full. */
    boolean reserve() {
        int count = reserved.get();
        while (count < capacity) {
            int seen = reserved.compareAndExchange(count, count + 1);
            if (seen == count) {
                return true;
            }
            count = seen;
        }
        return false;
    }

    /** Gives back a reserved place that no task was put into. */
    void release() {
        reserved.getAndDecrement();
    }

    /** Puts a task into a reserved place. */
    void put(Task task) {
        if (!tasks.offer(task)) {
            throw new IllegalStateException("a ring of " + capacity + " was full in spite of a reservation");
        }
    }

    @Nullable
    Task poll() {
        if (reserved.get() == 0) {
            return null;
        }
        Task task = tasks.poll();
        if (task != null) {
            reserved.getAndDecrement();
        }
        return task;
    }

    /** Reserved places: tasks in the ring and tasks about to be put. */
    int waiting() {
        return reserved.get();
    }

    /** Producers and thieves of other cores write here: alone on its cache lines. */
    @SuppressWarnings("unused")
    private static final class PaddedInteger extends AtomicInteger {
        private static final long serialVersionUID = 1;
        private transient long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14;
    }
}
