package io.github.roost.core;

import java.util.concurrent.RejectedExecutionException;

/** Thrown when queues have no room for a submission. No part of it runs; a later submission may be accepted. Has no stack trace. */
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

    /** Does nothing: under overload this is thrown so often that stack traces would take the rest of the time. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }

    /** {@return the cache domain that had no room} */
    public int domain() {
        return domain;
    }
}
