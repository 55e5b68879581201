package io.github.roost.core.policy;

/**
 * Since when a domain's queue has been longer than its workers clear in a moment, since when it has been deep, and whether
 * its own workers have taken their share of it meanwhile. Immutable and pure: the pool and the simulator keep one per domain
 * and replace it by {@link #next} and {@link #taken}.
 *
 * <p>A backlog ends as soon as fewer tasks wait than its mark. A deep queue ends only below that same mark, so that thieves
 * drain a flood and do not hover about the mark at which it began.
 *
 * @param since {@link System#nanoTime()} when the backlog began, or {@link #NEVER}
 * @param deepSince when the queue became deep, or {@link #NEVER}
 * @param round tasks still to be taken until every worker of the domain could have taken one more than it was free for when
 *     the backlog began, at least 0
 */
public record Backlog(long since, long deepSince, int round) {
    /** Stands for a time where there is none. */
    public static final long NEVER = Long.MIN_VALUE;

    /** No backlog. */
    public static final Backlog NONE = new Backlog(NEVER, NEVER, 0);

    /**
     * The backlog after a look at the queue.
     *
     * @param gate says what is a backlog, and what is deep
     * @param waiting tasks that wait in the domain's rings
     * @param workers of the domain
     * @param idle of these, the ones that have nothing to run
     * @param now {@link System#nanoTime()}
     * @return this where nothing has changed
     */
    public Backlog next(CrossDomainGate gate, int waiting, int workers, int idle, long now) {
        if (!gate.backlogged(waiting, workers)) {
            return NONE;
        }
        long deep = deepSince == NEVER && gate.deep(waiting, workers) ? now : deepSince;
        if (since == NEVER) {
            return new Backlog(now, deep, workers + idle);
        }
        return deep == deepSince ? this : new Backlog(since, deep, round);
    }

    /** {@return the backlog after a task was taken from the queue; this where that changes nothing} */
    public Backlog taken() {
        return round == 0 ? this : new Backlog(since, deepSince, round - 1);
    }

    /**
     * Whether the queue stands although every worker of the domain could take another task: what its own workers take in
     * their next turn is no reason to cross.
     *
     * @return whether a round is over
     */
    public boolean outlastsARound() {
        return since != NEVER && round == 0;
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
