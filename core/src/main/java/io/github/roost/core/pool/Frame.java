package io.github.roost.core.pool;

import io.github.roost.core.task.Task;
import io.github.roost.core.task.TaskContext;
import io.github.roost.core.task.TaskQueue;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The context of a slice on a worker, and the tasks that the slice has submitted. There is one frame per nesting depth, reused for
 * later slices at that depth. Used by the runner's thread, except {@link #fail} and {@link #outer}.
 */
final class Frame extends TaskContext {
    private static final int MAX_CHILDREN = 1 << 12;

    /** A task that the slice has submitted, and where it was put. */
    private record Child(Task task, TaskQueue queue, long place) {}

    private static final Child[] NONE = {};

    private final @Nullable Frame outer;
    private final Worker worker;
    private final MaintenanceTurns maintenance;
    private final Slices slices;

    /** The worker of another domain that the task was taken from, or null. */
    @Nullable
    Worker victim;

    private @Nullable Frame inner;
    /** The tasks that the slice has submitted, oldest first; the first {@link #count} elements. */
    private @Nullable Child[] children = NONE;

    private int count;
    /** The children before this index are not to be run now. */
    private int hidden;

    private boolean mayBlock;
    /** Time of slices that ran nested in this one. */
    private long nestedNanos;

    Frame(@Nullable Frame outer, Worker worker, MaintenanceTurns maintenance, Slices slices) {
        this.outer = outer;
        this.worker = worker;
        this.maintenance = maintenance;
        this.slices = slices;
    }

    /** The frame of the slice that this one is nested in, or null. Any thread. */
    @Nullable
    Frame outer() {
        return outer;
    }

    /** The frame of a slice nested in this one. */
    Frame inner() {
        Frame one = inner;
        if (one == null) {
            one = new Frame(this, worker, maintenance, slices);
            inner = one;
        }
        return one;
    }

    /** Begins a slice that has submitted nothing yet. */
    void beginSlice(Task task, long nanos, @Nullable Worker takenFrom) {
        begin(task, nanos);
        victim = takenFrom;
        nestedNanos = 0;
    }

    void nested(long nanos) {
        nestedNanos += nanos;
    }

    long nestedNanos() {
        return nestedNanos;
    }

    /** Marks the slice as one that may block its thread, because it has submitted tasks or waits; whether it was not marked before. */
    boolean setMayBlock() {
        boolean first = !mayBlock;
        mayBlock = true;
        return first;
    }

    /** Remembers a child. Beyond the maximum, the child is left to the queue that it is in. */
    void submitted(Task task, TaskQueue queue, long place) {
        if (count == children.length) {
            if (count == MAX_CHILDREN) {
                return;
            }
            children = Arrays.copyOf(children, Math.max(8, 2 * count));
        }
        children[count++] = new Child(task, queue, place);
    }

    /** Takes the newest child that has not begun out of its queue; null if there is none. */
    @Nullable
    Task takeChild() {
        while (count > hidden) {
            Child newest = children[--count];
            children[count] = null;
            if (newest != null && newest.queue().remove(newest.place(), newest.task())) {
                return newest.task();
            }
        }
        return null;
    }

    /** Hides the present children from waits, until {@link #showChildren}; returns the number hidden before. */
    int hideChildren() {
        int before = hidden;
        hidden = count;
        return before;
    }

    void showChildren(int hiddenBefore) {
        hidden = hiddenBefore;
    }

    /** Ends the slice: forgets its children; whether it was marked as one that may block. */
    boolean endSlice() {
        boolean marked = mayBlock;
        mayBlock = false;
        hidden = 0;
        while (count > 0) {
            children[--count] = null;
        }
        victim = null;
        forget();
        return marked;
    }

    /** Fails the task of the running slice, or of one that has just ended; its future is done already. Any thread. */
    void fail(Throwable cause) {
        Task running = runningOrNull();
        if (running != null) {
            running.failRunning(cause);
        }
    }

    @Override
    public int worker() {
        return worker.index;
    }

    @Override
    public int domain() {
        return worker.domain;
    }

    @Override
    public long stepNanos() {
        return maintenance.stepNanos();
    }

    @Override
    public boolean afterMaintenance() {
        return maintenance.wasLast();
    }

    @Override
    protected void book(Task.Outcome outcome) {
        slices.book(this, outcome);
    }
}
