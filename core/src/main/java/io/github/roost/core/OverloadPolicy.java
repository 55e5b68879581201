package io.github.roost.core;

import java.time.Duration;

/**
 * Policy for a submission whose home domain's queues are full.
 *
 * @param kind the kind of policy
 * @param timeout the time that {@link Kind#BLOCK} waits for room; zero for other kinds
 */
public record OverloadPolicy(Kind kind, Duration timeout) {
    /** The kinds of policy. */
    public enum Kind {
        /** Throw a {@link RejectedSearchException} that names the full domain. */
        REJECT,
        /** Run the search in the submitting thread, which slows the submitter down to the rate of the workers. */
        CALLER_RUNS,
        /**
         * Wait for room, in the order of arrival, and reject if there is none within the timeout. A submitting worker runs the search
         * itself instead, since it might wait for itself.
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
     * Returns the policy that waits for room, then rejects.
     *
     * @param timeout the maximum time to wait, at least zero
     * @return the policy
     */
    public static OverloadPolicy block(Duration timeout) {
        return new OverloadPolicy(Kind.BLOCK, timeout);
    }
}
