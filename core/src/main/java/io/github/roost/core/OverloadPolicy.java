package io.github.roost.core;

import io.github.roost.core.task.RejectedSearchException;
import java.time.Duration;

/**
 * What happens to a submission whose rings are full.
 *
 * @param kind what to do
 * @param timeout how long {@link Kind#BLOCK} waits for room; zero for the others
 */
public record OverloadPolicy(Kind kind, Duration timeout) {
    /** The kinds of policy. */
    public enum Kind {
        /** Throw a {@link RejectedSearchException} that names the full domain. */
        REJECT,
        /** Run the search in the submitting thread, which slows the submitter down to what the workers can do. */
        CALLER_RUNS,
        /**
         * Wait for room, and reject when there is none in time. On a worker, where waiting for room could be waiting
         * for oneself, the search runs in the submitting worker instead.
         */
        BLOCK
    }

    /** Checks the timeout. */
    public OverloadPolicy {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout must not be negative, got " + timeout);
        }
    }

    /** {@return the policy that rejects at once} */
    public static OverloadPolicy reject() {
        return new OverloadPolicy(Kind.REJECT, Duration.ZERO);
    }

    /** {@return the policy that runs a task in the submitting thread} */
    public static OverloadPolicy callerRuns() {
        return new OverloadPolicy(Kind.CALLER_RUNS, Duration.ZERO);
    }

    /**
     * Waits for room, then rejects.
     *
     * @param timeout how long to wait, at least zero
     * @return the policy
     */
    public static OverloadPolicy block(Duration timeout) {
        return new OverloadPolicy(Kind.BLOCK, timeout);
    }
}
