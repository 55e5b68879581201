package io.github.roost.core.task;

import java.util.concurrent.TimeUnit;

/** A task's deadline passed before it started, so it never ran, or while it ran, and it was ended. */
public final class DeadlineExceededException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Ends a search that finds its deadline passed while it runs. */
    public DeadlineExceededException() {
        super("the deadline passed while the search ran");
    }

    /**
     * Fails a task that was too late.
     *
     * @param lateNanos how long after its deadline a worker came to the task
     */
    public DeadlineExceededException(long lateNanos) {
        super("the deadline passed " + TimeUnit.NANOSECONDS.toMicros(lateNanos)
                + " us before a worker came to the task");
    }
}
