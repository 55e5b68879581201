package io.github.roost.core.pool;

import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.Step;
import org.jspecify.annotations.Nullable;

/** The context of one slice of one task; used again for others. Used by the running thread alone. */
public abstract class TaskContext implements SearchContext {
    private @Nullable Task task;
    private long startNanos;
    private long nodes;
    private long bytes;
    private boolean ended;
    private @Nullable Step<?, ?> step;

    /** Begins a slice. */
    final void begin(Task begun, long nanos) {
        task = begun;
        startNanos = nanos;
        nodes = 0;
        bytes = 0;
        ended = false;
        step = null;
    }

    /** {@link System#nanoTime()} when the slice began. */
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
        return task().epoch().mapping().epoch();
    }

    @Override
    public final boolean expired() {
        Task running = task();
        return running.abandoned()
                || (running.deadlineNanos() != Task.NO_DEADLINE && running.expired(System.nanoTime()));
    }

    /** The task that runs. */
    public final Task task() {
        Task running = task;
        if (running == null) {
            throw new IllegalStateException("a context is valid only during the call that it was passed to");
        }
        return running;
    }

    /** The task that runs, or null; for any thread, which may see an older one. */
    final @Nullable Task runningOrNull() {
        return task;
    }

    /** No longer a context of anything. */
    final void forget() {
        task = null;
        step = null;
    }

    /** How the slice ended, where that leaves something to do: {@link Step.Park} or {@link Step.Fork}. */
    final void step(Step<?, ?> left) {
        step = left;
    }

    final @Nullable Step<?, ?> step() {
        return step;
    }

    final boolean touchedAnything() {
        return (nodes | bytes) != 0;
    }

    final long bytes() {
        return bytes;
    }

    /** Books the task's outcome, once, and this slice's traffic. */
    public final void finished(Outcome outcome) {
        if (!ended) {
            ended = true;
            book(outcome);
        }
    }

    /** Whether an outcome was booked. */
    final boolean isFinished() {
        return ended;
    }

    abstract void book(Outcome outcome);
}
