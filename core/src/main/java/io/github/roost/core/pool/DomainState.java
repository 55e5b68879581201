package io.github.roost.core.pool;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What the workers of one cache domain share about themselves. Thread-safe. */
final class DomainState {
    private static final long NOT_BACKLOGGED = Long.MIN_VALUE;

    /** Workers that found nothing to run; each worker counts itself in and out. */
    private final AtomicInteger idle = new AtomicInteger();
    /** Of those, the ones that sleep or are about to. */
    private final AtomicInteger parked = new AtomicInteger();
    /**
     * When the present backlog began. Set by whoever first sees a backlog, reset by whoever first sees none. The two can
     * cross and leave it wrong until the next look; that delays or hastens a cross steal and loses nothing, since the
     * domain's own workers drain its rings regardless.
     */
    private final AtomicLong backlogSince = new AtomicLong(NOT_BACKLOGGED);

    void idleBegins() {
        idle.getAndIncrement();
    }

    void idleEnds() {
        idle.getAndDecrement();
    }

    int idle() {
        return idle.get();
    }

    void parkBegins() {
        parked.getAndIncrement();
    }

    void parkEnds() {
        parked.getAndDecrement();
    }

    int parked() {
        return parked.get();
    }

    /** Notes that a backlog was seen at {@code now}; true when it begins. */
    boolean beginBacklog(long now) {
        return backlogSince.compareAndSet(NOT_BACKLOGGED, now);
    }

    void endBacklog() {
        backlogSince.set(NOT_BACKLOGGED);
    }

    boolean hasBacklog() {
        return backlogSince.get() != NOT_BACKLOGGED;
    }

    /** How long the backlog has lasted at {@code now}, or -1 when there is none. */
    long backlogNanos(long now) {
        long since = backlogSince.get();
        return since == NOT_BACKLOGGED ? -1 : Math.max(0, now - since);
    }
}
