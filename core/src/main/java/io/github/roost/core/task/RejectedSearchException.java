package io.github.roost.core.task;

import java.util.concurrent.RejectedExecutionException;

/** A submission was not accepted: nothing of it runs. */
public final class RejectedSearchException extends RejectedExecutionException {
    private static final long serialVersionUID = 1;

    /** The cache domain that had no room, or -1 when the orchestrator is closed. */
    private final int domain;

    private RejectedSearchException(String message, int domain) {
        super(message);
        this.domain = domain;
    }

    /**
     * A submission for which there was no room.
     *
     * @param what was not accepted
     * @param domain the full cache domain
     * @param capacity tasks that may wait per worker
     * @return the exception
     */
    public static RejectedSearchException full(String what, int domain, int capacity) {
        return new RejectedSearchException(
                "cache domain " + domain + " is full (" + capacity + " tasks a worker): " + what + " was not accepted",
                domain);
    }

    /**
     * A submission to a closed orchestrator.
     *
     * @param what was not accepted
     * @return the exception
     */
    public static RejectedSearchException closed(String what) {
        return new RejectedSearchException("the orchestrator is closed: " + what + " was not accepted", -1);
    }

    /** {@return the cache domain that had no room, or -1 when the orchestrator is closed} */
    public int domain() {
        return domain;
    }
}
