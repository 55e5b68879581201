package io.github.roost.core.dispatch;

import io.github.roost.core.policy.Backlog;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import java.util.function.IntConsumer;

/**
 * Which domains help another whose queue stands: whether a thief may take a task across, and in which domains a sleeping
 * worker is to be woken for it. Pure but for what it asks of its {@link Domains}; the pool and the simulator run it.
 *
 * <p>A sleeper cannot see that a queue elsewhere has become old enough to take from. So while any domain is backlogged one
 * who watches asks {@link #helpers} at the times that {@link #nextLook} gives, and each thief that has taken a task asks
 * {@link #afterSteal}, which wakes the next sleeper: first one in every domain that may help, then these wake their own.
 * Nothing depends on a single signal: the next look finds whoever still sleeps.
 */
public final class WakePolicy {
    /** Time between two looks at a backlog that sleepers already help with: for those that have gone to sleep since. */
    static final long REPEAT_NANOS = 1_000_000;
    /** The shortest time between two looks; less costs more than it saves. */
    static final long SHORTEST_LOOK_NANOS = 20_000;

    private final WorkerLayout layout;
    private final CrossDomainGate gate;
    private final boolean gated;
    private final Domains domains;

    /** What is known of the domains. Numbers may be a moment old. */
    public interface Domains {
        /**
         * Tasks that wait in the rings of a domain.
         *
         * @param domain from 0
         * @return at least 0
         */
        int waiting(int domain);

        /**
         * Workers of a domain that found nothing to run, awake or asleep.
         *
         * @param domain from 0
         * @return at least 0
         */
        int idle(int domain);

        /**
         * Workers of a domain that run a task of another one.
         *
         * @param domain from 0
         * @return at least 0
         */
        int strays(int domain);

        /**
         * Its queue over time.
         *
         * @param domain from 0
         * @return {@link Backlog#NONE} where there is no backlog
         */
        Backlog backlog(int domain);

        /**
         * What crossing costs its tasks.
         *
         * @param domain from 0
         * @return {@link CrossingCost#UNKNOWN} where nothing was measured
         */
        default CrossingCost crossing(int domain) {
            return CrossingCost.UNKNOWN;
        }
    }

    /**
     * The policy of one machine.
     *
     * @param layout the workers
     * @param scheduling whether there is a gate at all
     * @param gate when a task may cross
     * @param domains what is known of them
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
        return gate.opens(idle + domains.strays(thief), idle, layout.workersIn(thief), backlog, now);
    }

    /**
     * Whether a domain has more workers idle than it keeps in reserve, another has none, and a task there had better cross than
     * wait, by what that was measured to cost.
     *
     * @param thief the domain with idle workers
     * @param victim the other domain
     * @return whether it may take one
     */
    public boolean sparesTimeFor(int thief, int victim) {
        CrossingCost cost = domains.crossing(victim);
        int idle = domains.idle(thief);
        return !cost.equals(CrossingCost.UNKNOWN)
                && idle > CrossDomainGate.reserve(layout.workersIn(thief))
                && domains.idle(victim) == 0
                && cost.pays(domains.waiting(victim), layout.workersIn(victim), 2 * idle < layout.workersIn(thief));
    }

    /**
     * The domain in which one sleeping worker is to be woken since another's queue has grown.
     *
     * @param busy the domain whose queue has grown
     * @return the nearest by number that {@linkplain #sparesTimeFor spares time}, or -1
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
     * The domains in each of which one sleeping worker is to be woken for the queues of others.
     *
     * @param now {@link System#nanoTime()}
     * @param wake told each such domain
     */
    public void helpers(long now, IntConsumer wake) {
        for (int victim = 0; victim < layout.domains(); victim++) {
            if (needsHelp(victim)) {
                for (int step = 1; step < layout.domains(); step++) {
                    int helper = (victim + step) % layout.domains();
                    if (domains.idle(helper) > 0 && opens(helper, victim, now)) {
                        wake.accept(helper);
                    }
                }
            }
        }
    }

    private boolean needsHelp(int victim) {
        return gated ? domains.backlog(victim).exists() : domains.waiting(victim) > 0;
    }

    /**
     * Whether a thief that has just taken a task across wakes the next sleeper of its own domain.
     *
     * @param thief its domain; the thief is counted as stray by now, not as idle
     * @param victim whose task it has taken
     * @param now {@link System#nanoTime()}
     * @return whether another one would find the gate open
     */
    public boolean afterSteal(int thief, int victim, long now) {
        return domains.idle(thief) > 0 && domains.waiting(victim) > 0 && opens(thief, victim, now);
    }

    /**
     * When to ask {@link #helpers} next.
     *
     * @param now {@link System#nanoTime()}
     * @return nanoseconds from now; {@link Long#MAX_VALUE} where no domain is backlogged
     */
    public long nextLook(long now) {
        long next = Long.MAX_VALUE;
        for (int domain = 0; domain < layout.domains(); domain++) {
            Backlog backlog = domains.backlog(domain);
            if (backlog.exists()) {
                next = Math.min(next, REPEAT_NANOS);
                next = Math.min(next, until(backlog.since(), gate.sustainedNanos(backlog), now));
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
