package io.github.roost.core.pool;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that are parked on one worker: a list of all, and a binary heap of those with a deadline, earliest first. Each task
 * knows its index in the heap, so it can be removed when it resumes. Thread-safe.
 */
final class ParkedTasks {
    private static final Parked[] NONE = {};

    /** Guarded by this, as are all writes of the fields below. */
    private @Nullable Parked first;

    private Parked[] heap = NONE;
    private int timed;
    /** Written under the lock; read without it. */
    private volatile int count;

    /** Earliest deadline, {@link Task#NO_DEADLINE} for none; written under the lock. */
    private volatile long earliest = Task.NO_DEADLINE;

    /** Adds a task if it still waits. If memory is out, throws and adds nothing. */
    synchronized void add(Parked parked) {
        if (!parked.waits()) {
            return;
        }
        Faults.point();
        if (parked.deadlineNanos() != Task.NO_DEADLINE) {
            if (timed == heap.length) {
                heap = Arrays.copyOf(heap, Math.max(16, 2 * timed));
            }
            up(timed++, parked);
            earliest = heap[0].deadlineNanos();
        }
        parked.after = first;
        if (first != null) {
            first.before = parked;
        }
        first = parked;
        count++;
    }

    /** Removes a task; no effect if it is not present. */
    synchronized void remove(Parked parked) {
        if (parked != first && parked.before == null) {
            return;
        }
        if (parked.before == null) {
            first = parked.after;
        } else {
            parked.before.after = parked.after;
        }
        if (parked.after != null) {
            parked.after.before = parked.before;
        }
        parked.before = null;
        parked.after = null;
        count--;
        if (parked.place >= 0) {
            removeFromHeap(parked.place);
            parked.place = -1;
            earliest = timed == 0 ? Task.NO_DEADLINE : heap[0].deadlineNanos();
        }
    }

    @SuppressWarnings("NullAway") // elements from timed on are null, and never read
    private void removeFromHeap(int place) {
        Parked last = heap[--timed];
        heap[timed] = null;
        if (place < timed) {
            int at = down(place, last);
            if (at == place) {
                up(place, last);
            }
        }
    }

    private void up(int place, Parked parked) {
        int at = place;
        while (at > 0 && earlier(parked, heap[(at - 1) / 2])) {
            set(at, heap[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        set(at, parked);
    }

    private int down(int place, Parked parked) {
        int at = place;
        while (2 * at + 1 < timed) {
            int child = 2 * at + 1;
            if (child + 1 < timed && earlier(heap[child + 1], heap[child])) {
                child++;
            }
            if (!earlier(heap[child], parked)) {
                break;
            }
            set(at, heap[child]);
            at = child;
        }
        set(at, parked);
        return at;
    }

    private void set(int place, Parked parked) {
        heap[place] = parked;
        parked.place = place;
    }

    private static boolean earlier(Parked one, Parked other) {
        return one.deadlineNanos() - other.deadlineNanos() < 0;
    }

    /** Nanoseconds until the earliest deadline, at least 0, or {@link Long#MAX_VALUE} for none. Reads the clock only if needed. */
    long nanosToDeadline() {
        long deadline = earliest;
        return deadline == Task.NO_DEADLINE ? Long.MAX_VALUE : Math.max(0, deadline - System.nanoTime());
    }

    /** Handles the tasks whose deadline has passed, by {@link Parked#late}. */
    void expire() {
        long deadline = earliest;
        if (deadline == Task.NO_DEADLINE) {
            return;
        }
        long now = System.nanoTime();
        for (Parked late = late(now); late != null; late = late(now)) {
            late.late(now);
        }
    }

    private synchronized @Nullable Parked late(long now) {
        return timed > 0 && now - heap[0].deadlineNanos() > 0 ? heap[0] : null;
    }

    /** Resumes all tasks. */
    void release() {
        for (Parked parked = any(); parked != null; parked = any()) {
            parked.resume();
        }
    }

    private synchronized @Nullable Parked any() {
        return first;
    }

    int size() {
        return count;
    }

    boolean isEmpty() {
        return count == 0;
    }
}
