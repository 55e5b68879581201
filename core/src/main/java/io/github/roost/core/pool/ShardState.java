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
    private static final int STRAYS = 3 * STRIDE;

    private final AtomicLongArray fields = new AtomicLongArray(4 * STRIDE);

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

    void strayBegins() {
        fields.getAndIncrement(STRAYS);
    }

    void strayEnds() {
        fields.getAndDecrement(STRAYS);
    }

    int strays() {
        return (int) fields.get(STRAYS);
    }
}
