package io.github.roost.core.dispatch;

/**
 * Since when a domain's queue has been longer than its workers clear in a moment, and since when it has been deep. Immutable
 * and pure: the pool and the simulator keep one per domain and replace it by {@link #next}.
 *
 * <p>A backlog ends as soon as fewer tasks wait than its mark. A deep queue ends only below that same mark, so that thieves
 * drain a flood and do not hover about the mark at which it began.
 *
 * @param since {@link System#nanoTime()} when the backlog began, or {@link #NEVER}
 * @param deepSince when the queue became deep, or {@link #NEVER}
 */
public record Backlog(long since, long deepSince) {
    /** Stands for a time where there is none. */
    public static final long NEVER = Long.MIN_VALUE;

    /** No backlog. */
    public static final Backlog NONE = new Backlog(NEVER, NEVER);

    /**
     * The backlog after a look at the queue.
     *
     * @param gate says what is a backlog, and what is deep
     * @param waiting tasks that wait in the domain's rings
     * @param workers of the domain
     * @param now {@link System#nanoTime()}
     * @return this where nothing has changed
     */
    public Backlog next(CrossDomainGate gate, int waiting, int workers, long now) {
        if (!gate.backlogged(waiting, workers)) {
            return NONE;
        }
        long begun = since == NEVER ? now : since;
        long deep = deepSince == NEVER && gate.deep(waiting, workers) ? now : deepSince;
        return begun == since && deep == deepSince ? this : new Backlog(begun, deep);
    }

    /** {@return whether there is one} */
    public boolean exists() {
        return since != NEVER;
    }

    /**
     * Whether the backlog has lasted for a time.
     *
     * @param nanos the time
     * @param now {@link System#nanoTime()}
     * @return whether it began at least so long ago
     */
    public boolean lasts(long nanos, long now) {
        return since != NEVER && now - since >= nanos;
    }

    /**
     * Whether the queue has been deep for a time.
     *
     * @param nanos the time
     * @param now {@link System#nanoTime()}
     * @return whether it became deep at least so long ago
     */
    public boolean isDeepFor(long nanos, long now) {
        return deepSince != NEVER && now - deepSince >= nanos;
    }
}
