package io.github.roost.core.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A worker's bounded FIFO queue with many producers and many consumers: the owner and thieves.
 *
 * <p>A producer first reserves a place by incrementing {@link Head#reserved} and then puts a task into it, so several tasks can
 * be placed all or none. A consumer takes the oldest place once it is filled: it empties the slot by compare-and-set and then
 * increments {@link Tail#taken}, which never decreases. Place p can be reserved only after place p - capacity has been taken,
 * so after its slot was emptied: no producer overwrites a task. A consumer that reads a task from the slot of place p and then
 * finds {@code taken} still at p has read the task of p, since a slot is emptied before {@code taken} passes it and filled again
 * only after. A task is in a ring only once, so the consumer's compare-and-set succeeds only if no other consumer took p. A
 * place that is reserved and not yet filled blocks the places behind it.
 *
 * <p>{@link #waiting} counts a place from its reservation, which is an atomic read-modify-write. So if one thread reserves and
 * then reads a flag, and another sets that flag and then reads {@link #waiting}, at least one of them sees the other's write.
 */
final class Ring {
    /** Result of {@link #reserve} if there is no room. */
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

    /** @param capacity maximum number of waiting tasks, at least 1 */
    Ring(int capacity) {
        this.capacity = capacity;
        int length = capacity == 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
        this.mask = length - 1;
        this.slots = new Object[length];
    }

    /** Reserves one place; returns its number, or {@link #FULL}. */
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
     * Releases a reserved place that no task was put into. If it is the last place reserved, the reservation is undone; otherwise
     * the place becomes a hole that consumers skip in its turn. Allocates nothing.
     *
     * @param hole created before the place was reserved, and not used for places that are reserved after this call
     */
    void release(long place, Hole hole) {
        if (RESERVED.compareAndSet(head, place + 1, place)) {
            return;
        }
        SLOT.setRelease(slots, (int) place & mask, hole);
    }

    /** Takes the oldest task; null if there is none, or if another thread is about to put or take it. */
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
     * Removes the oldest tasks as long as they are claimed. A thread that waits for tasks that it submitted claims them while they
     * are in the ring. Consumers would skip them, but late if the ring belongs to that very worker. Any thread.
     *
     * @return whether places became free
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

    /** The number of reserved places: tasks in the ring and tasks about to be put. */
    int waiting() {
        long taken = tail.taken;
        return (int) (head.reserved - taken);
    }

    /** Fills a released place; consumers skip it. Never put into the same slot twice, as the proof above requires. */
    static final class Hole {}

    /** The fields that producers write, on separate cache lines. */
    @SuppressWarnings("unused")
    private static final class Head extends CacheLinePadding {
        private volatile long reserved;
        /** A lower bound of {@link Tail#taken}, so that producers need not read the consumers' line for every task. */
        private long takenSeen;

        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
    }

    /** The field that consumers write, on separate cache lines. */
    @SuppressWarnings("unused")
    private static final class Tail extends CacheLinePadding {
        private volatile long taken;

        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
    }
}
