package io.github.roost.core.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The room in the queues of one domain and priority, as a count of the tasks put and to be put, less those that the queues have given up; and the
 * submitters that wait for room, first come, first served. Nobody holds a place in a queue that is not filled. Thread-safe.
 *
 * <p>Only the submitter whose turn it is tries to take room, and sleeps when there is none. A worker that takes a task reads {@link #first}
 * afterwards; the submitter writes that field before it tries. So one of them sees the other, and no wake-up is lost.
 */
@SuppressWarnings("unused") // padding
public final class Room extends CacheLinePadding {
    private static final VarHandle ADDED;

    static {
        try {
            ADDED = MethodHandles.lookup().findVarHandle(Room.class, "added", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Tasks that were put, or will be by those that have taken room. */
    private volatile long added;
    /** A lower bound of what the queues have given up; written plainly by any thread, so it may be an older one. */
    private long endedSeen;

    private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;

    private final long capacity;
    private final LongSupplier ended;
    private final Semaphore turn = new Semaphore(1, true);
    /** Submitters that wait; a newcomer that sees one waits behind it. */
    private final AtomicInteger waiting = new AtomicInteger();
    /** The submitter whose turn it is, or null. */
    private volatile @Nullable Thread first;
    /** {@link System#nanoTime()} from which the queues may be swept again, and the requests that callers had ended before the last time. */
    private volatile long nextSweep = System.nanoTime();

    private volatile long abandonedSeen;

    /**
     * @param capacity maximum number of tasks that wait
     * @param ended sums the tasks that the queues have given up
     */
    public Room(long capacity, LongSupplier ended) {
        this.capacity = capacity;
        this.ended = ended;
    }

    /** Takes room for tasks to be put, all or none. More tasks than there is room for in all are let in while none waits. */
    public boolean take(int tasks) {
        while (true) {
            long before = added;
            if (before + tasks - endedSeen > capacity) {
                endedSeen = ended.getAsLong();
                if (before + tasks - endedSeen > capacity && before != endedSeen) {
                    return false;
                }
            }
            if (ADDED.compareAndSet(this, before, before + tasks)) {
                return true;
            }
        }
    }

    /** Gives room back, or takes it, by a negative number, for tasks that are not refused. */
    public void give(int tasks) {
        ADDED.getAndAdd(this, (long) -tasks);
    }

    /**
     * Whether tasks that nobody needs may be taken out of the queues, since there is no room: if callers have ended requests, or for at most a
     * tenth of the time, however many submissions are refused.
     */
    public boolean maySweep(long now, long abandoned) {
        return abandoned != abandonedSeen || now - nextSweep >= 0;
    }

    public void swept(long from, long to, long abandoned) {
        abandonedSeen = abandoned;
        nextSweep = to + 9 * (to - from);
    }

    /** Whether a submitter waits, so that a newcomer must wait behind it. */
    public boolean isAwaited() {
        return waiting.get() > 0;
    }

    /**
     * Waits until it is the caller's turn and an attempt succeeds.
     *
     * @param attempt takes room and puts the tasks; called until it returns true
     * @param goesOn whether to wait on
     * @return whether an attempt succeeded; false if {@code nanos} have passed, or the thread is interrupted, which it stays
     */
    public boolean await(BooleanSupplier attempt, BooleanSupplier goesOn, long nanos) {
        long end = System.nanoTime() + nanos;
        waiting.getAndIncrement();
        try {
            if (!turn.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
                return false;
            }
            try {
                return awaitRoom(attempt, goesOn, end);
            } finally {
                first = null;
                turn.release();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            waiting.getAndDecrement();
        }
    }

    private boolean awaitRoom(BooleanSupplier attempt, BooleanSupplier goesOn, long end) {
        first = Thread.currentThread();
        while (!attempt.getAsBoolean()) {
            long left = end - System.nanoTime();
            if (left <= 0 || !goesOn.getAsBoolean() || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(this, left);
        }
        return true;
    }

    /** Called after a task was taken from a queue. */
    public void made() {
        Thread waits = first;
        if (waits != null) {
            LockSupport.unpark(waits);
        }
    }
}
