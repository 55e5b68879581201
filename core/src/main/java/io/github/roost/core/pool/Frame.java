package io.github.roost.core.pool;

import io.github.roost.core.Priority;
import io.github.roost.core.pool.Task.Outcome;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The context of a slice on a worker, and the tasks that the slice has submitted. There is one frame per nesting depth, reused for
 * later slices at that depth. Used by the runner's thread, except {@link #fail} and {@link #outer}.
 */
final class Frame extends TaskContext {
    private static final int MAX_CHILDREN = 1 << 12;
    private static final Task[] NO_TASKS = {};

    private final @Nullable Frame outer;
    private final int depth;
    private final Worker worker;
    private final Progress progress;
    private final MaintenanceTurns maintenance;
    private final TaskMetrics books;
    /** The domain that the task was taken from if it is not this worker's domain, else -1. */
    private int stolenFrom = -1;

    private @Nullable Frame inner;
    /** The tasks that the slice has submitted, oldest first; the first {@link #children} elements. */
    private @Nullable Task[] submitted = NO_TASKS;

    private int children;
    /** Whether it is counted in {@link Progress#mayBlock}. */
    private boolean mayBlock;

    /** Creates the frame of slices that are not nested in another. */
    Frame(Worker worker, Progress progress, MaintenanceTurns maintenance, TaskMetrics books) {
        this.outer = null;
        this.depth = 1;
        this.worker = worker;
        this.progress = progress;
        this.maintenance = maintenance;
        this.books = books;
    }

    private Frame(Frame outer) {
        this.outer = outer;
        this.depth = outer.depth + 1;
        this.worker = outer.worker;
        this.progress = outer.progress;
        this.maintenance = outer.maintenance;
        this.books = outer.books;
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
            one = new Frame(this);
            inner = one;
        }
        return one;
    }

    /** The number of nested slices up to this one. */
    int depth() {
        return depth;
    }

    /** Begins a slice that has submitted nothing yet. */
    void beginSlice(Task task, long nanos) {
        begin(task, nanos);
        mayBlock = false;
    }

    int stolenFrom() {
        return stolenFrom;
    }

    void stolenFrom(int domain) {
        stolenFrom = domain;
    }

    boolean isBatch() {
        Task running = task();
        return running.isMaintenance() || running.priority() == Priority.BATCH;
    }

    /** Marks the slice as one that may block its thread, because it has submitted tasks or waits. */
    void setMayBlock() {
        if (!mayBlock) {
            mayBlock = true;
            progress.countMayBlock(1);
        }
    }

    /** Remembers a child. Beyond the maximum, or if memory is out, the child is only found where it is queued. */
    void submitted(Task task) {
        if (children == submitted.length) {
            if (children == MAX_CHILDREN) {
                return;
            }
            try {
                submitted = Arrays.copyOf(submitted, Math.max(8, 2 * children));
            } catch (OutOfMemoryError none) {
                return;
            }
        }
        submitted[children++] = task;
    }

    /** Removes and returns the newest child, or null. */
    @Nullable
    Task child() {
        if (children == 0) {
            return null;
        }
        Task newest = submitted[--children];
        submitted[children] = null;
        return newest;
    }

    /** Called at the end of the slice: clears its mark in {@link Progress#mayBlock} and its children. */
    void endsSubmitting() {
        if (mayBlock) {
            mayBlock = false;
            progress.countMayBlock(-1);
        }
        while (children > 0) {
            submitted[--children] = null;
        }
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
    void book(Outcome outcome) {
        books.ended(this, outcome);
    }
}
