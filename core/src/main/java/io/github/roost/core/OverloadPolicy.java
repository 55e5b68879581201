package io.github.roost.core;

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

    public OverloadPolicy {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout must not be negative, got " + timeout);
        }
    }

    /** Rejects at once. */
    public static OverloadPolicy reject() {
        return new OverloadPolicy(Kind.REJECT, Duration.ZERO);
    }

    /** Runs in the submitting thread. */
    public static OverloadPolicy callerRuns() {
        return new OverloadPolicy(Kind.CALLER_RUNS, Duration.ZERO);
    }

    /** Waits up to {@code timeout} for room, then rejects. */
    public static OverloadPolicy block(Duration timeout) {
        return new OverloadPolicy(Kind.BLOCK, timeout);
    }
}
