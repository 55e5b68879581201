package io.github.roost.core.policy;

/**
 * The rule by which a worker may steal a task from another cache domain. A task that crosses runs on a cold cache and evicts
 * data there, so short queues are left to their own domain; but no core should stay idle while another domain's queue persists.
 *
 * <ul>
 *   <li><b>Burst:</b> while every worker of the thief's domain is free, it may steal from a domain that has been backlogged for
 *       {@code sustainedNanos}, if the backlog has outlasted a round in which each worker of that domain could take another
 *       task. If the round is not over, because tasks are long, the backlog must have lasted for {@code floodNanos}.
 *   <li><b>Flood:</b> from a domain whose queue has been deep for {@code floodNanos}, any worker may steal that finds nothing in
 *       its own domain, except a reserve of one per {@value #WORKERS_PER_RESERVE} workers, which keeps the domain responsive.
 * </ul>
 *
 * <p>The gate opens earlier if crossing was measured to cost less than waiting.
 *
 * @param backlogPerWorker minimum number of waiting tasks per worker at which a domain counts as backlogged, at least 1; a
 *     flood ends below it
 * @param sustainedNanos minimum duration of a backlog for a burst, in nanoseconds, at least 0
 * @param floodPerWorker minimum number of waiting tasks per worker at which a queue is deep, at least {@code backlogPerWorker}
 * @param floodNanos minimum duration of a deep queue for a flood, in nanoseconds, at least 0
 */
public record CrossDomainGate(int backlogPerWorker, long sustainedNanos, int floodPerWorker, long floodNanos) {
    /** Number of workers of a domain per worker that is reserved for its own tasks during a flood of another domain. */
    public static final int WORKERS_PER_RESERVE = 8;

    private static final int FLOOD_PER_WORKER = 8;
    private static final long FLOOD_NANOS = 2_000_000;

    /** Two waiting tasks per worker for 200 microseconds, eight for 2 milliseconds; measured with {@code ./roost bench gate}. */
    public static final CrossDomainGate DEFAULT = new CrossDomainGate(2, 200_000);

    /** Checks the thresholds and times. */
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
     * @param backlogPerWorker minimum number of waiting tasks per worker at which a domain counts as backlogged, at least 1
     * @param sustainedNanos minimum duration of a backlog for a burst, in nanoseconds, at least 0
     */
    public CrossDomainGate(int backlogPerWorker, long sustainedNanos) {
        this(backlogPerWorker, sustainedNanos, Math.max(FLOOD_PER_WORKER, backlogPerWorker), FLOOD_NANOS);
    }

    /**
     * Whether a domain is backlogged.
     *
     * @param waiting tasks that wait in the domain's rings and lists
     * @param workers number of workers of the domain
     * @return whether the queue is long enough that, if it lasts, another domain may help
     */
    public boolean backlogged(int waiting, int workers) {
        return waiting >= (long) backlogPerWorker * workers;
    }

    /**
     * Whether a domain's queue is deep.
     *
     * @param waiting tasks that wait in the domain's rings and lists
     * @param workers number of workers of the domain
     * @return whether the queue is long enough that, if it lasts, it is a flood
     */
    public boolean deep(int waiting, int workers) {
        return waiting >= (long) floodPerWorker * workers;
    }

    /**
     * The number of workers of a domain that do not help with a flood of another domain.
     *
     * @param workers number of workers of the domain
     * @return 0 for fewer than {@value #WORKERS_PER_RESERVE} workers
     */
    public static int reserve(int workers) {
        return workers / WORKERS_PER_RESERVE;
    }
}
