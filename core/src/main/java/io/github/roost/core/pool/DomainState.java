package io.github.roost.core.pool;

import java.util.concurrent.atomic.AtomicLongArray;

/** What the workers of one cache domain share about themselves. Thread-safe. */
final class DomainState {
    private static final long NOT_BACKLOGGED = Long.MIN_VALUE;
    /** Longs from one field to the next: two cache lines, since processors fetch lines in pairs. */
    private static final int STRIDE = 16;

    /** Workers that found nothing to run; each worker counts itself in and out. */
    private static final int IDLE = STRIDE;
    /** Of those, the ones that sleep or are about to. */
    private static final int PARKED = 2 * STRIDE;
    /**
     * When the present backlog began. Set by whoever first sees a backlog, reset by whoever first sees none. The two can
     * cross and leave it wrong until the next look; that delays or hastens a cross steal and loses nothing, since the
     * domain's own workers drain its rings regardless.
     */
    private static final int BACKLOG_SINCE = 3 * STRIDE;

    private final AtomicLongArray fields = new AtomicLongArray(4 * STRIDE);

    DomainState() {
        fields.set(BACKLOG_SINCE, NOT_BACKLOGGED);
    }

    void idleBegins() {
        fields.getAndIncrement(IDLE);
    }

    void idleEnds() {
        fields.getAndDecrement(IDLE);
    }

    int idle() {
        return (int) fields.get(IDLE);
    }

    void parkBegins() {
        fields.getAndIncrement(PARKED);
    }

    void parkEnds() {
        fields.getAndDecrement(PARKED);
    }

    int parked() {
        return (int) fields.get(PARKED);
    }

    /** Notes that a backlog was seen at {@code now}; true when it begins. */
    boolean beginBacklog(long now) {
        return fields.compareAndSet(BACKLOG_SINCE, NOT_BACKLOGGED, now);
    }

    void endBacklog() {
        fields.set(BACKLOG_SINCE, NOT_BACKLOGGED);
    }

    boolean hasBacklog() {
        return fields.get(BACKLOG_SINCE) != NOT_BACKLOGGED;
    }

    /** How long the backlog has lasted at {@code now}, or -1 when there is none. */
    long backlogNanos(long now) {
        long since = fields.get(BACKLOG_SINCE);
        return since == NOT_BACKLOGGED ? -1 : Math.max(0, now - since);
    }
}
