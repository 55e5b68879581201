package io.github.roost.core.task;

import java.time.Duration;

/**
 * How a task is to be treated. Immutable.
 *
 * @param priority which of two queued tasks goes first
 * @param timeout how long after submission the task may still start, and a search that asks its context may go on; zero for
 *     no deadline
 */
public record SubmitOptions(Priority priority, Duration timeout) {
    /** Interactive, without a deadline. */
    public static final SubmitOptions DEFAULT = new SubmitOptions(Priority.INTERACTIVE, Duration.ZERO);

    /** Batch, without a deadline. */
    public static final SubmitOptions BATCH = new SubmitOptions(Priority.BATCH, Duration.ZERO);

    /** Checks the timeout. */
    public SubmitOptions {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout must be zero (none) or positive, got " + timeout);
        }
    }

    /**
     * The same options with a deadline.
     *
     * @param newTimeout from submission to deadline; zero for none
     * @return the options
     */
    public SubmitOptions withTimeout(Duration newTimeout) {
        return new SubmitOptions(priority, newTimeout);
    }
}
