package io.github.roost.core.task;

import java.util.concurrent.TimeUnit;

/** A search's deadline passed before it began, or before it went on. */
public final class DeadlineExceededException extends RuntimeException {
    private static final long serialVersionUID = 1;

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
