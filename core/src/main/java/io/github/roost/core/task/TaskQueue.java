package io.github.roost.core.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An unbounded FIFO queue of tasks with many producers and many consumers, a list of segments whose slots are each used once (after
 * Correia and Ramalhete's FAA array queue, 2016).
 *
 * <p>A producer draws a number by fetch-and-add and puts its task into that slot by compare-and-set. A consumer takes the oldest
 * task by compare-and-set to {@link #TAKEN}: whoever wins owns the task, so a task needs no mark of its own. A slot whose producer
 * is off its core between the two steps is marked as taken as well, and that producer draws another number: so no thread ever waits for another.
 * Since a slot is used once, no compare-and-set takes an old task for a new one. {@link Segment#taken} lags behind the slots at most; a
 * consumer that finds a taken slot advances it.
 *
 * <p>A task that is in the queue has a number that was drawn and not passed, so {@link #hasTasks} is true from the end of {@link #put}
 * until the task is taken or removed. The draw and the compare-and-set are sequentially consistent, and so are the reads in
 * {@code hasTasks}: if one thread puts a task and then reads a flag, and another sets that flag and then calls {@code hasTasks}, at least one
 * of them sees the other's write.
 */
public final class TaskQueue {
    private static final int SLOTS = 512;
    /** How often a consumer looks again for the task of a producer that has drawn a number, before it passes the slot. */
    private static final int LOOKS = 32;
    /** The content of a slot whose task was taken or is not to come. */
    private static final Object TAKEN = new Object();
    /** The content of a slot whose task was removed, until a consumer passes it. */
    private static final Object REMOVED = new Object();

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle COUNT;
    private static final VarHandle NEXT;
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            COUNT = lookup.findVarHandle(Counter.class, "count", long.class);
            NEXT = lookup.findVarHandle(Segment.class, "next", Segment.class);
            HEAD = lookup.findVarHandle(TaskQueue.class, "head", Segment.class);
            TAIL = lookup.findVarHandle(TaskQueue.class, "tail", Segment.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A counter on cache lines of its own. */
    @SuppressWarnings("unused")
    private static final class Counter extends CacheLinePadding {
        private volatile long count;
        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
    }

    private static final class Segment {
        /** The number of its first slot in the whole queue. */
        final long first;

        final @Nullable Object[] slots = new Object[SLOTS];
        /** Numbers drawn, also beyond the last slot. */
        final Counter drawn = new Counter();
        /** Slots passed by consumers, or fewer. */
        final Counter taken = new Counter();

        volatile @Nullable Segment next;

        Segment(long first) {
            this.first = first;
        }

        int drawn() {
            return (int) Math.min(SLOTS, drawn.count);
        }

        /** The first slot that may hold a task; the last one once none may. */
        int firstSlot() {
            return (int) Math.min(SLOTS - 1, taken.count);
        }
    }

    private volatile Segment head = new Segment(0);
    private volatile Segment tail = head;
    /** Tasks removed and not passed yet. */
    private final AtomicInteger removed = new AtomicInteger();
    /** Slots passed whose producer has drawn another number. */
    private final AtomicLong unused = new AtomicLong();

    /** Adds a task; returns its place. */
    public long put(Task task) {
        while (true) {
            Segment last = tail;
            long index = (long) COUNT.getAndAdd(last.drawn, 1L);
            if (index < SLOTS) {
                if (SLOT.compareAndSet(last.slots, (int) index, null, task)) {
                    return last.first + index;
                }
            } else {
                append(last);
            }
        }
    }

    private void append(Segment last) {
        Segment next = last.next;
        if (next == null) {
            Segment fresh = new Segment(last.first + SLOTS);
            next = NEXT.compareAndSet(last, null, fresh) ? fresh : last.next;
        }
        TAIL.compareAndSet(this, last, next);
    }

    /** Takes the oldest task, which the caller owns; null if there is none. */
    @Nullable
    public Task poll() {
        for (Segment first = first(); first != null; first = first()) {
            int index = first.firstSlot();
            Object filled = SLOT.getVolatile(first.slots, index);
            if (filled == null) {
                if (first.drawn.count <= index) {
                    return null;
                }
                filled = lookAgain(first, index);
            }
            if (filled instanceof Task task) {
                if (SLOT.compareAndSet(first.slots, index, task, TAKEN)) {
                    pass(first, index);
                    return task;
                }
            } else {
                passEmpty(first, index, filled);
            }
        }
        return null;
    }

    /** The first segment that may hold tasks, or null; drops those before. */
    private @Nullable Segment first() {
        while (true) {
            Segment first = head;
            if (first.taken.count < SLOTS) {
                return first;
            }
            Segment next = first.next;
            if (next == null) {
                return null;
            }
            HEAD.compareAndSet(this, first, next);
        }
    }

    private static @Nullable Object lookAgain(Segment segment, int index) {
        Object filled = null;
        for (int i = 0; filled == null && i < LOOKS; i++) {
            Thread.onSpinWait();
            filled = SLOT.getVolatile(segment.slots, index);
        }
        return filled;
    }

    /** Passes the slot at the head, which holds no task. */
    private void passEmpty(Segment segment, int index, @Nullable Object filled) {
        if (filled == TAKEN) {
            passSurely(segment, index);
        } else if (SLOT.compareAndSet(segment.slots, index, filled, TAKEN)) {
            if (filled == REMOVED) {
                removed.getAndDecrement();
            } else {
                unused.getAndIncrement();
            }
            passSurely(segment, index);
        }
    }

    /** As {@link #pass}, by a thread that may not look at this queue again: never sets the count back. */
    private static void passSurely(Segment segment, int index) {
        COUNT.compareAndSet(segment.taken, (long) index, (long) index + 1);
    }

    /** Advances the count past a taken slot. A store that comes late sets it back, and the next consumer advances it again. */
    private static void pass(Segment segment, int index) {
        if (segment.taken.count == index) {
            COUNT.setRelease(segment.taken, (long) index + 1);
        }
    }

    /** Removes a task that was put at a place; true if the caller owns it now, false if another thread does. */
    public boolean remove(long place, Task task) {
        for (Segment segment = head; segment != null && segment.first <= place; segment = segment.next) {
            int index = (int) Math.min(SLOTS, place - segment.first);
            if (index < SLOTS) {
                return removeAt(segment, index, task);
            }
        }
        return false;
    }

    private boolean removeAt(Segment segment, int index, Object task) {
        if (!SLOT.compareAndSet(segment.slots, index, task, REMOVED)) {
            return false;
        }
        removed.getAndIncrement();
        return true;
    }

    /**
     * Removes tasks, which the predicate then owns no longer in common with the queue.
     *
     * @param unwanted called with every task, which other threads may take meanwhile
     * @param taken called with every task that this call has removed; the caller owns it
     */
    public void removeIf(Predicate<Task> unwanted, Consumer<Task> taken) {
        for (Segment segment = head; segment != null; segment = segment.next) {
            int end = segment.drawn();
            for (int index = (int) Math.min(SLOTS, segment.taken.count); index < end; index++) {
                if (SLOT.getVolatile(segment.slots, index) instanceof Task task
                        && unwanted.test(task)
                        && removeAt(segment, index, task)) {
                    taken.accept(task);
                }
            }
        }
        passRemoved();
    }

    /** Passes the slots at the head that hold no task, so that removed tasks take no memory however long no task is taken. */
    private void passRemoved() {
        for (Segment first = first(); first != null; first = first()) {
            int index = first.firstSlot();
            Object filled = SLOT.getVolatile(first.slots, index);
            if (filled == null || filled instanceof Task) {
                return;
            }
            passEmpty(first, index, filled);
        }
    }

    /** Whether a task waits, or is about to be put, or was removed a moment ago. */
    public boolean hasTasks() {
        Segment first = first();
        return first != null && first.drawn.count > first.firstSlot();
    }

    /** The number of tasks, at least 0; may be slightly stale. */
    public int waiting() {
        long taken = taken();
        return (int) Math.max(0, put() - taken - removed.get());
    }

    /** The number of tasks taken or removed so far. */
    public long ended() {
        return taken() + removed.get() - unused.get();
    }

    /** The number of places passed so far. */
    public long taken() {
        Segment first = head;
        return first.first + Math.min(SLOTS, first.taken.count);
    }

    /** The number of places drawn so far. */
    public long put() {
        Segment last = tail;
        return last.first + last.drawn();
    }
}
