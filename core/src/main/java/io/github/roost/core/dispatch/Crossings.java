package io.github.roost.core.dispatch;

import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.policy.SchedulingPolicy.Gate;
import java.util.function.IntConsumer;

/**
 * The rule of crossings between domains: whether a worker may take a task of another domain, and in which domains a sleeping
 * worker is woken for one. Pure apart from its calls of {@link Domains}; used by the pool and the simulator. Thread-safe if
 * {@link Domains} is.
 *
 * <p>An idle worker that is awake updates the {@linkplain QueueAge ages} of the queues before it looks for tasks of other domains, if the
 * last update was {@link #AWAKE_LOOK_NANOS} ago. A sleeping worker cannot see that a task of another domain has become old. So while tasks
 * wait, a watcher updates the ages and calls {@link #helpers} at the times given by {@link #nextLook}. This wakes one
 * worker in each domain that may take a task. A thief that has taken one asks {@link #wakesNext} whether to wake the next sleeper
 * of its own domain. A lost wake-up does no harm: the next look finds the workers that still sleep.
 */
public final class Crossings {
    /** Number of waiting tasks per worker from which a domain is backlogged, under {@link Gate#BACKLOG}. */
    public static final int BACKLOG_PER_WORKER = 2;

    /** Factor of the bound while a worker of the task's domain is idle: waking a core from deep sleep takes some 100 us. */
    static final int WHILE_IDLE = 4;

    /** Minimum interval of updates of the ages by workers that are awake, in nanoseconds: a short task. */
    public static final long AWAKE_LOOK_NANOS = 5_000;

    /** Interval of looks while no worker could help. */
    static final long LONGEST_LOOK_NANOS = 1_000_000;
    /** Minimum interval of looks; shorter ones cost more than they save. */
    static final long SHORTEST_LOOK_NANOS = 20_000;

    private final WorkerLayout layout;
    private final Gate gate;
    private final long ageNanos;
    private final Domains domains;

    /** The state of the domains. Numbers may be slightly stale. */
    public interface Domains {
        /**
         * The number of tasks that wait in a domain.
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
         * The number of tasks that wait in a domain and are {@linkplain QueueAge#old old}.
         *
         * @param domain from 0
         * @return at least 0
         */
        long old(int domain);

        /**
         * The measured cost of crossing for tasks of a domain.
         *
         * @param domain from 0
         * @return the cost; {@link CrossingCost#UNKNOWN} if nothing was measured
         */
        CrossingCost cost(int domain);
    }

    /**
     * Creates the rule of one machine.
     *
     * @param layout the workers
     * @param scheduling has the gate
     * @param crossDomainGate has the minimum waiting time of a task that crosses
     * @param domains the state of the domains
     */
    public Crossings(
            WorkerLayout layout, SchedulingPolicy scheduling, CrossDomainGate crossDomainGate, Domains domains) {
        this.layout = layout;
        this.gate = scheduling.gate();
        this.ageNanos = crossDomainGate.ageNanos();
        this.domains = domains;
    }

    /**
     * The waiting time from which a task of a domain is old: the age of the gate, or what the task would lose by crossing if that
     * is more; {@value #WHILE_IDLE} times as long while a worker of the domain is idle, since it is about to take the task.
     *
     * @param domain the domain of the task
     * @return nanoseconds, at least 0
     */
    public long boundNanos(int domain) {
        long bound = Math.max(ageNanos, (long) domains.cost(domain).lossNanos());
        return domains.idle(domain) == 0 || bound > Long.MAX_VALUE / WHILE_IDLE ? bound : WHILE_IDLE * bound;
    }

    /**
     * Whether a worker that finds nothing in its own domain may take a task of another.
     *
     * @param thief the worker's domain; the worker counts as idle
     * @param victim the other domain
     * @return whether it may, now
     */
    public boolean mayTake(int thief, int victim) {
        return switch (gate) {
            case NONE -> true;
            case BACKLOG ->
                domains.idle(thief) == layout.workersIn(thief)
                        && domains.waiting(victim) >= BACKLOG_PER_WORKER * layout.workersIn(victim);
            case AGE -> domains.old(victim) > 0;
        };
    }

    /**
     * Finds the domains in which to wake one sleeping worker for the tasks of another domain. None without a gate: then a worker
     * looks at every queue before it sleeps, and a submitter wakes a worker that may take its task.
     *
     * @param wake called with each such domain, once per domain that it may help
     */
    public void helpers(IntConsumer wake) {
        for (int victim = 0; gate != Gate.NONE && victim < layout.domains(); victim++) {
            if (domains.waiting(victim) > 0) {
                for (int step = 1; step < layout.domains(); step++) {
                    int helper = (victim + step) % layout.domains();
                    if (domains.idle(helper) > 0 && mayTake(helper, victim)) {
                        wake.accept(helper);
                    }
                }
            }
        }
    }

    /**
     * Whether a thief that has just taken a task across wakes the next sleeper of its own domain.
     *
     * @param thief the thief's domain; the thief counts as busy
     * @param victim the domain of the task
     * @return whether the domain has another idle worker and there is another task that may cross
     */
    public boolean wakesNext(int thief, int victim) {
        return domains.idle(thief) > 0 && domains.waiting(victim) > 0 && mayTake(thief, victim);
    }

    /**
     * The interval of the watcher's looks while a worker could help. A worker that falls asleep beside a watcher that looks less
     * often has it look soon.
     *
     * @return nanoseconds
     */
    public long shortLookNanos() {
        return Math.clamp(ageNanos / 2, SHORTEST_LOOK_NANOS, LONGEST_LOOK_NANOS);
    }

    /**
     * The time until the watcher's next look.
     *
     * @return nanoseconds; {@link Long#MAX_VALUE} if no task waits
     */
    public long nextLook() {
        boolean waits = false;
        for (int victim = 0; victim < layout.domains(); victim++) {
            if (domains.waiting(victim) > 0) {
                waits = true;
                for (int helper = 0; helper < layout.domains(); helper++) {
                    if (helper != victim && domains.idle(helper) > 0) {
                        return shortLookNanos();
                    }
                }
            }
        }
        return waits ? LONGEST_LOOK_NANOS : Long.MAX_VALUE;
    }
}
