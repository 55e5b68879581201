package io.github.roost.core.task;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Step;
import io.github.roost.core.task.Task.Outcome;
import org.jspecify.annotations.Nullable;

/** The context of a slice; reused for later slices. Used only by the running thread. */
public abstract class TaskContext implements SearchContext {
    private @Nullable Task task;
    private long startNanos;
    private long nodes;
    private long bytes;
    private boolean ended;
    private @Nullable Step<?, ?> step;

    /** Begins a slice. */
    public final void begin(Task begun, long nanos) {
        task = begun;
        startNanos = nanos;
        nodes = 0;
        bytes = 0;
        ended = false;
        step = null;
    }

    /** {@link System#nanoTime()} when the slice began; 0 if it is not timed. */
    public final long startNanos() {
        return startNanos;
    }

    @Override
    public final void touched(long moreNodes, long moreBytes) {
        requireTouched(moreNodes, moreBytes);
        nodes += moreNodes;
        bytes += moreBytes;
    }

    /** Checks amounts of reported traffic. */
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
        return running.isUnneeded()
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

    /** The task that runs, or null. May be called from any thread, which may see an older task. */
    protected final @Nullable Task runningOrNull() {
        return task;
    }

    /** Clears the references of the slice. */
    protected final void forget() {
        task = null;
        step = null;
    }

    /** Sets the step that the slice ended with, if it is a {@link Step.Park} or {@link Step.Fork}. */
    final void step(Step<?, ?> left) {
        step = left;
    }

    public final @Nullable Step<?, ?> step() {
        return step;
    }

    public final boolean touchedAnything() {
        return (nodes | bytes) != 0;
    }

    public final long bytes() {
        return bytes;
    }

    /** Books the outcome of the task and the traffic of this slice; only the first call per slice has an effect. */
    public final void finished(Outcome outcome) {
        if (!ended) {
            ended = true;
            book(outcome);
        }
    }

    protected abstract void book(Outcome outcome);
}
