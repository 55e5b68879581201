package io.github.roost.core.dispatch;

import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import java.util.function.IntConsumer;

/**
 * The policy of help across domains: whether a thief may take a task of another domain, and in which domains a sleeping worker
 * is woken for one. Pure apart from its calls of {@link Domains}; used by the pool and the simulator. Thread-safe if
 * {@link Domains} is.
 *
 * <p>A sleeping worker cannot see that a queue in another domain has become old enough to steal from. So while any domain is
 * backlogged, a watcher calls {@link #helpers} at the times given by {@link #nextLook}; this wakes one worker per domain that may
 * help. Each thief that has taken a task then calls {@link #afterSteal} to find whether to wake the next sleeper of its own
 * domain. A lost wake-up does no harm: the next look finds the workers that still sleep.
 */
public final class WakePolicy {
    /** Interval of looks at a backlog that already has helpers; finds workers that have fallen asleep since. */
    static final long REPEAT_NANOS = 1_000_000;
    /** Minimum time to a look at a time threshold; shorter intervals cost more than they save. */
    static final long SHORTEST_LOOK_NANOS = 20_000;

    private final WorkerLayout layout;
    private final CrossDomainGate gate;
    private final boolean gated;
    private final Domains domains;

    /** The state of the domains. Numbers may be slightly stale. */
    public interface Domains {
        /**
         * The number of tasks that wait in the rings and lists of a domain.
         *
         * @param domain from 0
         * @return at least 0
         */
        int waiting(int domain);

        /**
         * The number of idle workers of a domain: those that found nothing to run, awake or asleep.
         *
         * @param domain from 0
         * @return at least 0
         */
        int idle(int domain);

        /**
         * The number of workers of a domain that run a task of another domain.
         *
         * @param domain from 0
         * @return at least 0
         */
        int crossings(int domain);

        /**
         * The time for which a domain has had an idle worker without interruption.
         *
         * @param domain from 0
         * @return nanoseconds, at least 0; 0 if no worker is idle
         */
        long idleNanos(int domain);

        /**
         * The backlog of a domain.
         *
         * @param domain from 0
         * @return the backlog; {@link Backlog#NONE} if there is none
         */
        Backlog backlog(int domain);

        /**
         * The cost of crossing for tasks of a domain.
         *
         * @param domain from 0
         * @return the cost; {@link CrossingCost#UNKNOWN} if nothing was measured
         */
        default CrossingCost crossing(int domain) {
            return CrossingCost.UNKNOWN;
        }
    }

    /**
     * Creates the policy of one machine.
     *
     * @param layout the workers
     * @param scheduling determines whether tasks cross only through the gate
     * @param gate determines when a task may cross
     * @param domains the state of the domains
     */
    public WakePolicy(WorkerLayout layout, SchedulingPolicy scheduling, CrossDomainGate gate, Domains domains) {
        this.layout = layout;
        this.gate = gate;
        this.gated = scheduling.gated();
        this.domains = domains;
    }

    /**
     * Whether a worker that finds nothing in its own domain may take a task of another.
     *
     * @param thief the worker's domain
     * @param victim the other domain
     * @param now {@link System#nanoTime()}
     * @return whether it may, now
     */
    public boolean opens(int thief, int victim, long now) {
        if (!gated) {
            return true;
        }
        if (sparesTimeFor(thief, victim)) {
            return true;
        }
        Backlog backlog = domains.backlog(victim);
        if (!backlog.exists() || !gate.backlogged(domains.waiting(victim), layout.workersIn(victim))) {
            return false;
        }
        int idle = domains.idle(thief);
        return backlog.opens(gate, idle + domains.crossings(thief), idle, layout.workersIn(thief), now);
    }

    /**
     * Whether a task of the victim domain, which has no idle worker, should cross instead of waiting, by the measured cost of
     * crossing, and the thief's domain has more idle workers than its reserve. If most workers there are busy it also must have
     * had an idle worker for as long as the task would lose: on a saturated machine a worker that has just become idle soon gets
     * a task of its own, and a task that crosses only adds work. To wait for the time that the wrong choice would lose is at most
     * twice as bad as to know the future (ski rental: Karlin et al., Algorithmica 11(6), 1994).
     *
     * @param thief the domain with idle workers
     * @param victim the other domain
     * @return whether the thief's domain may take a task
     */
    public boolean sparesTimeFor(int thief, int victim) {
        int workers = layout.workersIn(thief);
        int idle = domains.idle(thief);
        if (idle <= CrossDomainGate.reserve(workers) || domains.idle(victim) > 0) {
            return false;
        }
        int waiting = domains.waiting(victim);
        CrossingCost own = domains.crossing(victim);
        if (waiting == 0 || own.equals(CrossingCost.UNKNOWN)) {
            return false;
        }
        if (own.trialIsDue()) {
            return true;
        }
        CrossingCost cost = own.isMeasured() ? own : ofAllDomains();
        boolean mostBusy = 2 * idle < workers;
        return cost.pays(waiting, layout.workersIn(victim), mostBusy)
                && (!mostBusy || domains.idleNanos(thief) >= cost.lossNanos());
    }

    private CrossingCost ofAllDomains() {
        CrossingCost all = CrossingCost.UNKNOWN;
        for (int domain = 0; domain < layout.domains(); domain++) {
            all = all.plus(domains.crossing(domain));
        }
        return all;
    }

    /**
     * The domain in which to wake one sleeping worker because the queue of another domain has grown.
     *
     * @param busy the domain whose queue has grown
     * @return the next domain after {@code busy}, by number and cyclically, that {@linkplain #sparesTimeFor spares time}, or -1
     */
    public int helperOf(int busy) {
        if (gated && !domains.crossing(busy).equals(CrossingCost.UNKNOWN)) {
            for (int step = 1; step < layout.domains(); step++) {
                int helper = (busy + step) % layout.domains();
                if (sparesTimeFor(helper, busy)) {
                    return helper;
                }
            }
        }
        return -1;
    }

    /**
     * Finds the domains in which to wake one sleeping worker for the queue of another domain: none without a gate, since then a
     * worker looks at every queue before it sleeps, and a submitter wakes a worker that may take its task.
     *
     * @param now {@link System#nanoTime()}
     * @param wake called with each such domain, once per domain that it may help
     */
    public void helpers(long now, IntConsumer wake) {
        for (int victim = 0; gated && victim < layout.domains(); victim++) {
            if (domains.backlog(victim).exists()) {
                for (int step = 1; step < layout.domains(); step++) {
                    int helper = (victim + step) % layout.domains();
                    if (domains.idle(helper) > 0 && opens(helper, victim, now)) {
                        wake.accept(helper);
                    }
                }
            }
        }
    }

    /**
     * Whether a thief that has just taken a task across wakes the next sleeper of its own domain.
     *
     * @param thief the thief's domain; the thief counts as a stolen task already, not as idle
     * @param victim the domain of the task
     * @param now {@link System#nanoTime()}
     * @return whether there is another idle worker, a waiting task, and the gate is open
     */
    public boolean afterSteal(int thief, int victim, long now) {
        return domains.idle(thief) > 0 && domains.waiting(victim) > 0 && opens(thief, victim, now);
    }

    /**
     * The time until the next call of {@link #helpers}.
     *
     * @param now {@link System#nanoTime()}
     * @return nanoseconds from now; {@link Long#MAX_VALUE} if no domain is backlogged
     */
    public long nextLook(long now) {
        long next = Long.MAX_VALUE;
        for (int domain = 0; domain < layout.domains(); domain++) {
            Backlog backlog = domains.backlog(domain);
            if (backlog.exists()) {
                next = Math.min(next, REPEAT_NANOS);
                next = Math.min(next, until(backlog.since(), backlog.burstNanos(gate), now));
                next = Math.min(next, until(backlog.deepSince(), gate.floodNanos(), now));
            }
        }
        return next;
    }

    private static long until(long since, long nanos, long now) {
        if (since == Backlog.NEVER || now - since >= nanos) {
            return Long.MAX_VALUE;
        }
        return Math.max(SHORTEST_LOOK_NANOS, nanos - (now - since));
    }
}
