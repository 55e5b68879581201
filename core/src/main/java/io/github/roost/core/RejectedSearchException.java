package io.github.roost.core;

import java.util.concurrent.RejectedExecutionException;

/** Thrown when queues have no room for a submission. No part of it runs; a later submission may be accepted. */
public final class RejectedSearchException extends RejectedExecutionException {
    private static final long serialVersionUID = 1;

    /** The cache domain that had no room. */
    private final int domain;

    /**
     * For a submission that was refused because a domain was full.
     *
     * @param what the submission that was not accepted, for the message
     * @param domain the full cache domain
     * @param capacity maximum number of waiting tasks per worker
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
