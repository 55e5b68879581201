package io.github.roost.core.task;

import java.util.concurrent.TimeUnit;

/** A search's deadline passed before it began, before it went on, or while it ran, and it was ended. */
public final class DeadlineExceededException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Ends a search that finds its deadline passed while it runs. */
    public DeadlineExceededException() {
        super("the deadline passed while the search ran");
    }

    /**
     * Fails a search that was too late.
     *
     * @param lateNanos how long after its deadline a worker came to the search
     */
    public DeadlineExceededException(long lateNanos) {
        super("the deadline passed " + TimeUnit.NANOSECONDS.toMicros(lateNanos)
                + " us before a worker came to the search");
    }
}
