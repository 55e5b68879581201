package io.github.roost.core.task;

import java.util.concurrent.RejectedExecutionException;

/** There was no room for a submission: nothing of it runs, and a later one may be accepted. */
public final class RejectedSearchException extends RejectedExecutionException {
    private static final long serialVersionUID = 1;

    /** The cache domain that had no room. */
    private final int domain;

    /**
     * Refuses a submission for which there was no room.
     *
     * @param what was not accepted
     * @param domain the full cache domain
     * @param capacity tasks that may wait per worker
     */
    public RejectedSearchException(String what, int domain, int capacity) {
        super("cache domain " + domain + " is full (" + capacity + " tasks per worker): " + what + " was not accepted");
        this.domain = domain;
    }

    /** {@return the cache domain that had no room} */
    public int domain() {
        return domain;
    }
}
