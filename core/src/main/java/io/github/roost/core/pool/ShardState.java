package io.github.roost.core.pool;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counters shared by the workers of one shard. A shard is a domain or a part of a large domain, so that at most
 * {@link io.github.roost.core.dispatch.WorkerLayout#SHARD_WORKERS} workers write each counter. Thread-safe.
 */
final class ShardState {
    /** Longs from one field to the next: two cache lines, since processors fetch lines in pairs. */
    private static final int STRIDE = 16;

    /** Workers that found nothing to run; each worker counts itself in and out. */
    private static final int IDLE = STRIDE;
    /** Idle workers that sleep or are about to. */
    private static final int PARKED = 2 * STRIDE;
    /** Workers that run a task of another domain. */
    private static final int CROSSINGS = 3 * STRIDE;

    /** When the number of idle workers last rose from 0; on the line of that number, since both are written together. */
    private static final int IDLE_SINCE = IDLE + 1;

    private final AtomicLongArray fields = new AtomicLongArray(4 * STRIDE);

    /**
     * Counts the calling worker as idle.
     *
     * @param now {@link System#nanoTime()}
     */
    void idleBegins(long now) {
        if (fields.getAndIncrement(IDLE) == 0) {
            fields.set(IDLE_SINCE, now);
        }
    }

    void idleEnds() {
        fields.getAndDecrement(IDLE);
    }

    int idle() {
        return (int) fields.get(IDLE);
    }

    /**
     * The time for which a worker of the shard has been idle without interruption. A reader between the two writes of
     * {@link #idleBegins} sees the start of the interval before, and so too long a time, once.
     *
     * @param now {@link System#nanoTime()}
     * @return nanoseconds, at least 0; 0 if no worker is idle
     */
    long idleNanos(long now) {
        return idle() == 0 ? 0 : Math.max(0, now - fields.get(IDLE_SINCE));
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

    void crossingBegins() {
        fields.getAndIncrement(CROSSINGS);
    }

    void crossingEnds() {
        fields.getAndDecrement(CROSSINGS);
    }

    int crossings() {
        return (int) fields.get(CROSSINGS);
    }
}
