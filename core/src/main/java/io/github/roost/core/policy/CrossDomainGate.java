package io.github.roost.core.policy;

/**
 * When a worker may take a task from another cache domain. A task that crosses finds a cold cache and warms the wrong one,
 * so a queue that its own domain would clear in a moment is left alone; but no core idles beside a queue that stands.
 *
 * <ul>
 *   <li><b>Burst:</b> while every worker of the thief's domain is free, it may take from a domain that has been backlogged
 *       for a moment, and is so still although each of its workers could take another task; where tasks are long, from one
 *       that has been backlogged for the time of a flood.
 *   <li><b>Flood:</b> from a domain whose queue has been deep for longer, any worker may take that finds nothing in its own
 *       domain, except a reserve of one in {@value #WORKERS_PER_RESERVE} workers, which keeps the domain responsive.
 * </ul>
 *
 * <p>Where it was measured that crossing costs less than the wait, it opens earlier.
 *
 * @param backlogPerWorker waiting tasks per worker of the victim domain from which on it counts as backlogged, at least 1;
 *     below it a flood ends
 * @param sustainedNanos how long it must have been backlogged for a burst, in nanoseconds, at least 0
 * @param floodPerWorker waiting tasks per worker from which on a queue is deep, at least {@code backlogPerWorker}
 * @param floodNanos how long the queue must have been deep for a flood, in nanoseconds, at least 0
 */
public record CrossDomainGate(int backlogPerWorker, long sustainedNanos, int floodPerWorker, long floodNanos) {
    /** Workers of a domain for each one that takes no part in a flood of another. */
    public static final int WORKERS_PER_RESERVE = 8;

    private static final int FLOOD_PER_WORKER = 8;
    private static final long FLOOD_NANOS = 2_000_000;

    /** Two waiting tasks per worker for 200 microseconds, eight for 2 milliseconds; measured with {@code ./roost bench gate}. */
    public static final CrossDomainGate DEFAULT = new CrossDomainGate(2, 200_000);

    /** Checks the marks and times. */
    public CrossDomainGate {
        if (backlogPerWorker < 1) {
            throw new IllegalArgumentException("backlog per worker must be at least 1, got " + backlogPerWorker);
        }
        if (sustainedNanos < 0) {
            throw new IllegalArgumentException("sustained time must be at least 0 ns, got " + sustainedNanos);
        }
        if (floodPerWorker < backlogPerWorker) {
            throw new IllegalArgumentException("flood per worker must be at least the backlog per worker, "
                    + backlogPerWorker + ", got " + floodPerWorker);
        }
        if (floodNanos < 0) {
            throw new IllegalArgumentException("flood time must be at least 0 ns, got " + floodNanos);
        }
    }

    /**
     * A gate with the default flood: eight waiting tasks per worker, or the backlog if that is more, for 2 milliseconds.
     *
     * @param backlogPerWorker waiting tasks per worker from which on a domain counts as backlogged, at least 1
     * @param sustainedNanos how long it must have been backlogged for a burst, at least 0
     */
    public CrossDomainGate(int backlogPerWorker, long sustainedNanos) {
        this(backlogPerWorker, sustainedNanos, Math.max(FLOOD_PER_WORKER, backlogPerWorker), FLOOD_NANOS);
    }

    /**
     * Whether a domain is backlogged.
     *
     * @param waiting tasks that wait in the domain's rings
     * @param workers of the domain
     * @return whether so many wait that another domain may help
     */
    public boolean backlogged(int waiting, int workers) {
        return waiting >= (long) backlogPerWorker * workers;
    }

    /**
     * Whether a domain's queue is deep.
     *
     * @param waiting tasks that wait in the domain's rings
     * @param workers of the domain
     * @return whether so many wait that, if it lasts, this is a flood
     */
    public boolean deep(int waiting, int workers) {
        return waiting >= (long) floodPerWorker * workers;
    }

    /**
     * How many workers of a domain take no part in a flood of another.
     *
     * @param workers of the domain
     * @return none where there are fewer than {@value #WORKERS_PER_RESERVE}
     */
    public static int reserve(int workers) {
        return workers / WORKERS_PER_RESERVE;
    }

    /**
     * How long a domain must have been backlogged for a burst.
     *
     * @param backlog the domain's
     * @return the longer time until its workers have taken a round of tasks, in nanoseconds
     */
    public long sustainedNanos(Backlog backlog) {
        return backlog.outlastsARound() ? sustainedNanos : Math.max(sustainedNanos, floodNanos);
    }

    /**
     * Whether a task of a domain may cross to the thief's.
     *
     * @param free workers of the thief's domain that are idle, the thief included, or run a task that has crossed
     * @param idle workers of the thief's domain that are idle, the thief included
     * @param workers all workers of the thief's domain
     * @param backlog the victim domain's
     * @param now {@link System#nanoTime()}
     * @return whether the thief may take it
     */
    public boolean opens(int free, int idle, int workers, Backlog backlog, long now) {
        return (free >= workers && backlog.lasts(sustainedNanos(backlog), now))
                || (idle > reserve(workers) && backlog.isDeepFor(floodNanos, now));
    }
}
