package io.github.roost.core;

import java.time.Duration;
import java.util.Objects;

/**
 * The priority and timeout of a submitted task. Immutable.
 *
 * @param priority determines which of two queued tasks runs first
 * @param timeout time from submission to the deadline, after which the task does not start or resume, and its context reports
 *     that it has expired; zero for no deadline, never negative
 */
public record SubmitOptions(Priority priority, Duration timeout) {
    /** Interactive, without a deadline. */
    public static final SubmitOptions DEFAULT = new SubmitOptions(Priority.INTERACTIVE, Duration.ZERO);

    /** Batch, without a deadline. */
    public static final SubmitOptions BATCH = new SubmitOptions(Priority.BATCH, Duration.ZERO);

    /** Checks the timeout. */
    public SubmitOptions {
        Objects.requireNonNull(priority, "priority must not be null");
        Objects.requireNonNull(timeout, "timeout must not be null");
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
