package io.github.roost.core.pool;

import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.task.SearchContext;

/** The context of one run of one task. Used by the running thread alone. */
public abstract class TaskContext implements SearchContext {
    private final Task task;
    private final long startNanos;
    private long nodes;
    private long bytes;

    TaskContext(Task task, long startNanos) {
        this.task = task;
        this.startNanos = startNanos;
    }

    /** {@link System#nanoTime()} when the run began. */
    public final long startNanos() {
        return startNanos;
    }

    @Override
    public final void touched(long moreNodes, long moreBytes) {
        requireTouched(moreNodes, moreBytes);
        nodes += moreNodes;
        bytes += moreBytes;
    }

    /** What a search says that it has touched cannot be less than nothing. */
    public static void requireTouched(long nodes, long bytes) {
        if (nodes < 0 || bytes < 0) {
            throw new IllegalArgumentException("nodes and bytes must not be negative, got " + nodes + " and " + bytes);
        }
    }

    @Override
    public final long epoch() {
        return task.epoch().mapping().epoch();
    }

    @Override
    public final boolean expired() {
        return task.abandoned() || (task.deadlineNanos() != Task.NO_DEADLINE && task.expired(System.nanoTime()));
    }

    /** The task that runs. */
    public final Task task() {
        return task;
    }

    final boolean touchedAnything() {
        return (nodes | bytes) != 0;
    }

    final long bytes() {
        return bytes;
    }

    /** Books the run's outcome and traffic. */
    public abstract void finished(Outcome outcome);
}
