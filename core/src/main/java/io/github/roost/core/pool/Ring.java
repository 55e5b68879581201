package io.github.roost.core.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A worker's bounded queue: many producers; the owner and thieves consume, first in first out.
 *
 * <p>A producer first reserves a place, by moving {@link Head#reserved} on, and then puts a task into it; so several
 * tasks can be placed all or none. A consumer takes the oldest place once it is filled: it empties the slot by
 * compare-and-set and then moves {@link Tail#taken} on. {@code taken} only grows. A place is reserved only when its number
 * less the capacity has been taken, so after its slot was emptied: no producer overwrites a task. A consumer that reads
 * a task from the slot of place p and then finds {@code taken} still at p has read the task of p, since slots are emptied
 * before {@code taken} passes them and filled again only after; tasks are in a ring once, so its compare-and-set succeeds
 * only if nobody else took p. A place that is reserved and not yet filled holds up those behind it.
 *
 * <p>{@link #waiting} counts from the reservation on, which is an atomic read-modify-write: who reserves and then reads
 * something else is seen by whoever writes that and then reads {@link #waiting}, or sees it.
 */
final class Ring {
    /** Answer of {@link #reserve} when there is no room. */
    static final long FULL = -1;

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle RESERVED;
    private static final VarHandle TAKEN;

    static {
        try {
            RESERVED = MethodHandles.lookup().findVarHandle(Head.class, "reserved", long.class);
            TAKEN = MethodHandles.lookup().findVarHandle(Tail.class, "taken", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int capacity;
    private final int mask;
    private final @Nullable Object[] slots;
    private final Head head = new Head();
    private final Tail tail = new Tail();

    /** @param capacity how many tasks may wait, at least 1 */
    Ring(int capacity) {
        this.capacity = capacity;
        int length = capacity == 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
        this.mask = length - 1;
        this.slots = new Object[length];
    }

    /** Reserves one place; its number, or {@link #FULL}. */
    long reserve() {
        long place = head.reserved;
        while (true) {
            if (place - head.takenSeen >= capacity) {
                head.takenSeen = tail.taken;
                if (place - head.takenSeen >= capacity) {
                    if (!dropClaimed()) {
                        return FULL;
                    }
                    head.takenSeen = tail.taken;
                }
            }
            long seen = (long) RESERVED.compareAndExchange(head, place, place + 1);
            if (seen == place) {
                return place;
            }
            place = seen;
        }
    }

    /** Puts a task into a reserved place. */
    void put(long place, Task task) {
        SLOT.setRelease(slots, (int) place & mask, task);
    }

    /**
     * Gives back a reserved place that no task was put into: as if it had never been if it is the last one reserved (all
     * beyond it are free then), otherwise as a hole that is passed by in its turn. Needs no memory.
     *
     * @param hole made for this use, before the place was reserved
     */
    void release(long place, Hole hole) {
        if (RESERVED.compareAndSet(head, place + 1, place)) {
            return;
        }
        SLOT.setRelease(slots, (int) place & mask, hole);
    }

    /** Takes the oldest task; null when there is none, or when another thread is about to put or take it. */
    @Nullable
    Task poll() {
        while (true) {
            long place = tail.taken;
            int slot = (int) place & mask;
            Object filled = SLOT.getVolatile(slots, slot);
            if (filled == null) {
                return null;
            }
            if (tail.taken == place && SLOT.compareAndSet(slots, slot, filled, null)) {
                TAKEN.setRelease(tail, place + 1);
                if (filled instanceof Task task) {
                    return task;
                }
            }
        }
    }

    /**
     * Takes out the oldest tasks as long as somebody has claimed them, as a thread does that waits for what it has submitted itself: they
     * would only be passed by in their turn, which comes late where the worker is that thread. Any thread.
     *
     * @return whether there is room now that was not there
     */
    private boolean dropClaimed() {
        boolean dropped = false;
        while (true) {
            long place = tail.taken;
            int slot = (int) place & mask;
            Object filled = SLOT.getVolatile(slots, slot);
            if (filled == null || (filled instanceof Task task && !task.isClaimed())) {
                return dropped || tail.taken != place;
            }
            if (tail.taken == place && SLOT.compareAndSet(slots, slot, filled, null)) {
                TAKEN.setRelease(tail, place + 1);
                dropped = true;
            }
        }
    }

    /** Reserved places: tasks in the ring and tasks about to be put. */
    int waiting() {
        long taken = tail.taken;
        return (int) (head.reserved - taken);
    }

    /** Fills a place that was given back; consumers pass it by. A new one each time, as the argument above asks. */
    static final class Hole {}

    /** What producers write: on cache lines of its own. */
    @SuppressWarnings("unused")
    private static final class Head extends CacheLinePadding {
        private volatile long reserved;
        /** A lower bound of {@link Tail#taken}, so that producers need not read the consumers' line for every task. */
        private long takenSeen;

        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
    }

    /** What consumers write: on cache lines of its own. */
    @SuppressWarnings("unused")
    private static final class Tail extends CacheLinePadding {
        private volatile long taken;

        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
    }
}
