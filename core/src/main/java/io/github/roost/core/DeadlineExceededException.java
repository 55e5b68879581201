package io.github.roost.core;

import java.util.concurrent.TimeUnit;

/** Thrown when a search is ended because its deadline passed: before it started, before it resumed, or while it ran. */
public final class DeadlineExceededException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** For a search that finds while it runs that its deadline has passed. */
    public DeadlineExceededException() {
        super("the deadline passed while the search ran");
    }

    /**
     * For a search whose deadline passed before a worker could start or resume it.
     *
     * @param lateNanos nanoseconds from the deadline to the moment a worker took the search
     */
    public DeadlineExceededException(long lateNanos) {
        super("the deadline passed " + TimeUnit.NANOSECONDS.toMicros(lateNanos)
                + " us before a worker came to the search");
    }

    /**
     * For a search whose deadline passed while it was parked.
     *
     * @param awaited the bytes that had not arrived, to be read after "the search waited for"
     */
    public DeadlineExceededException(String awaited) {
        super("the deadline passed while the search waited for " + awaited);
    }
}
