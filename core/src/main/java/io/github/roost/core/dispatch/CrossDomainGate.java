package io.github.roost.core.dispatch;

/**
 * When a worker may take a task from another cache domain: only while every worker of its own domain is idle, and the
 * victim domain has been backlogged for a sustained time. A task that crosses finds a cold cache and warms the wrong
 * one, so a queue that its own domain would clear in a moment is left alone.
 *
 * @param backlogPerWorker waiting tasks per worker of the victim domain from which on it counts as backlogged, at least 1
 * @param sustainedNanos how long it must have been backlogged, in nanoseconds, at least 0
 */
public record CrossDomainGate(int backlogPerWorker, long sustainedNanos) {
    /** Two waiting tasks a worker for 200 microseconds; measured with {@code ./roost bench gate}. */
    public static final CrossDomainGate DEFAULT = new CrossDomainGate(2, 200_000);

    /** Checks the backlog and its time. */
    public CrossDomainGate {
        if (backlogPerWorker < 1) {
            throw new IllegalArgumentException("backlog per worker must be at least 1, got " + backlogPerWorker);
        }
        if (sustainedNanos < 0) {
            throw new IllegalArgumentException("sustained time must be at least 0 ns, got " + sustainedNanos);
        }
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
     * Whether a task may cross to the thief's domain.
     *
     * @param idleInThiefDomain workers of the thief's domain that are idle, the thief included
     * @param workersInThiefDomain all workers of the thief's domain
     * @param victimBacklogNanos how long the victim domain has been backlogged, negative if it is not
     * @return whether the thief may take it
     */
    public boolean opens(int idleInThiefDomain, int workersInThiefDomain, long victimBacklogNanos) {
        return idleInThiefDomain >= workersInThiefDomain && victimBacklogNanos >= sustainedNanos;
    }
}
