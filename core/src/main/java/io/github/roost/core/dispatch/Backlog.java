package io.github.roost.core.dispatch;

import io.github.roost.core.policy.CrossDomainGate;

/**
 * The state of a domain's backlog: since when its queue has been over the backlog threshold, since when it has been deep, and
 * whether its own workers have taken their share since. Immutable and pure: the pool and the simulator keep one per domain and
 * replace it by {@link #next} and {@link #taken}.
 *
 * <p>A backlog ends when fewer tasks wait than its threshold. A deep queue also ends only at the backlog threshold, not at the
 * higher one where it began, so that thieves drain a flood instead of stopping and starting around that threshold.
 *
 * @param since {@link System#nanoTime()} when the backlog began, or {@link #NEVER}
 * @param deepSince {@link System#nanoTime()} when the queue became deep, or {@link #NEVER}
 * @param round tasks still to be taken from the queue before the backlog has outlasted a round, at least 0; a round is one task
 *     per worker of the domain, plus one per worker that was idle when the backlog began
 */
public record Backlog(long since, long deepSince, int round) {
    /** The value of a time that does not exist. */
    public static final long NEVER = Long.MIN_VALUE;

    /** No backlog. */
    public static final Backlog NONE = new Backlog(NEVER, NEVER, 0);

    /**
     * The backlog updated by the current length of the queue.
     *
     * @param gate has the thresholds of a backlog and of a deep queue
     * @param waiting tasks that wait in the domain's rings and lists
     * @param workers number of workers of the domain
     * @param idle number of those workers that have nothing to run
     * @param now {@link System#nanoTime()}
     * @return the new state; this if nothing has changed
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

    /** {@return the backlog after a task was taken from the queue; this if nothing has changed} */
    public Backlog taken() {
        return round == 0 ? this : new Backlog(since, deepSince, round - 1);
    }

    /**
     * Whether the backlog persists after every worker of the domain could take another task. Before that, tasks need not cross:
     * the domain's own workers may clear the queue in their next turn.
     *
     * @return whether there is a backlog and the round is over
     */
    public boolean outlastsARound() {
        return since != NEVER && round == 0;
    }

    /** {@return whether there is a backlog} */
    public boolean exists() {
        return since != NEVER;
    }

    /**
     * Whether the backlog has lasted for a time.
     *
     * @param nanos the time, in nanoseconds
     * @param now {@link System#nanoTime()}
     * @return whether it began at least {@code nanos} ago
     */
    public boolean lasts(long nanos, long now) {
        return since != NEVER && now - since >= nanos;
    }

    /**
     * Whether the queue has been deep for a time.
     *
     * @param nanos the time, in nanoseconds
     * @param now {@link System#nanoTime()}
     * @return whether it became deep at least {@code nanos} ago
     */
    public boolean isDeepFor(long nanos, long now) {
        return deepSince != NEVER && now - deepSince >= nanos;
    }

    /**
     * The minimum duration of this backlog for a burst. Longer until the domain's workers have taken a round of tasks.
     *
     * @param gate has the times of a burst and of a flood
     * @return the time in nanoseconds
     */
    public long burstNanos(CrossDomainGate gate) {
        return outlastsARound() ? gate.sustainedNanos() : Math.max(gate.sustainedNanos(), gate.floodNanos());
    }

    /**
     * Whether a gate lets a task of this backlog's domain cross to a thief's domain.
     *
     * @param gate the thresholds and times
     * @param free number of workers of the thief's domain that are idle, the thief included, or run a task of another domain
     * @param idle number of workers of the thief's domain that are idle, the thief included
     * @param workers number of workers of the thief's domain
     * @param now {@link System#nanoTime()}
     * @return whether the thief may take it
     */
    public boolean opens(CrossDomainGate gate, int free, int idle, int workers, long now) {
        return (free >= workers && lasts(burstNanos(gate), now))
                || (idle > CrossDomainGate.reserve(workers) && isDeepFor(gate.floodNanos(), now));
    }
}
