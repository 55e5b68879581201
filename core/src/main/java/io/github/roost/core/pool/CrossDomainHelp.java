package io.github.roost.core.pool;

import io.github.roost.core.dispatch.Backlog;
import io.github.roost.core.dispatch.CrossingCost;
import io.github.roost.core.dispatch.WakePolicy;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.policy.CrossDomainGate;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The state by which {@link WakePolicy} decides when workers of one domain take tasks of another: each domain's backlog and its
 * measured cost of crossing. Both are immutable values that any worker replaces by compare-and-set; a lost update delays or
 * repeats a decision, and loses no task. Thread-safe.
 */
final class CrossDomainHelp {
    private final WorkerPool pool;
    private final Platform platform;
    private final WorkerLayout layout;
    private final ShardState[] shards;
    private final CrossDomainGate gate;
    private final boolean gated;
    private final AtomicReferenceArray<Backlog> backlogs;
    private final AtomicReferenceArray<CrossingCost> crossings;
    private final WakePolicy.Domains domains = new SeenDomains();
    private final WakePolicy policy;

    CrossDomainHelp(WorkerPool pool, WorkerPool.Setup setup, ShardState[] shards, Platform platform) {
        this.pool = pool;
        this.platform = platform;
        this.layout = setup.layout();
        this.shards = shards;
        this.gate = setup.gate();
        this.gated = setup.scheduling().gated();
        this.backlogs = new AtomicReferenceArray<>(layout.domains());
        this.crossings = new AtomicReferenceArray<>(layout.domains());
        for (int domain = 0; domain < layout.domains(); domain++) {
            backlogs.set(domain, Backlog.NONE);
            crossings.set(domain, CrossingCost.UNKNOWN);
        }
        this.policy = new WakePolicy(layout, setup.scheduling(), gate, domains);
    }

    WakePolicy policy() {
        return policy;
    }

    WakePolicy.Domains domains() {
        return domains;
    }

    /** Checks a domain whose workers are all busy for the start of a backlog, which is then watched. */
    void noteBacklog(int domain) {
        Backlog before = backlogs.get(domain);
        if (!before.exists()) {
            refreshBacklog(domain, before, platform.nanoTime());
            if (backlogs.get(domain).exists()) {
                pool.watch().lookSoon();
            }
        }
    }

    private void refreshBacklog(int domain, Backlog before, long now) {
        Backlog next = before.next(gate, pool.waitingIn(domain), layout.workersIn(domain), domains.idle(domain), now);
        if (!next.equals(before)) {
            // If this fails, another thread has stored an equally recent state.
            backlogs.compareAndSet(domain, before, next);
        }
    }

    private Backlog countTaken(int domain, Backlog before) {
        if (before.outlastsARound()) {
            return before;
        }
        // If this fails, another task was counted at the same time: the round ends one task later.
        backlogs.compareAndSet(domain, before, before.taken());
        return backlogs.get(domain);
    }

    void refreshBacklogs(long now) {
        for (int domain = 0; domain < layout.domains(); domain++) {
            Backlog backlog = backlogs.get(domain);
            if (backlog.exists()) {
                refreshBacklog(domain, backlog, now);
            }
        }
    }

    /** Called after a task was taken from a queue of a worker; throws nothing, since the caller holds the task. */
    void taken(Worker from) {
        if (layout.domains() > 1) {
            try {
                Faults.point();
                Backlog backlog = backlogs.get(from.domain);
                if (backlog.exists()) {
                    backlog = countTaken(from.domain, backlog);
                    // Refresh only an existing backlog: a new one must begin in noteBacklog, which has it watched.
                    if (backlog.exists() && from.waiting() < gate.backlogPerWorker()) {
                        refreshBacklog(from.domain, backlog, platform.nanoTime());
                    }
                }
            } catch (Throwable error) {
                // The stored backlog is stale until Watch refreshes it at its next look.
                pool.armWatch();
            }
        }
    }

    boolean gateOpens(int thiefDomain, int victimDomain) {
        return !gated
                || policy.sparesTimeFor(thiefDomain, victimDomain)
                || (backlogs.get(victimDomain).exists()
                        && policy.opens(thiefDomain, victimDomain, platform.nanoTime()));
    }

    boolean isGated() {
        return gated;
    }

    /** Whether a worker that has taken a task of another domain wakes the next worker of its own domain. */
    boolean wakesNext(Worker thief, int victimDomain) {
        return policy.afterSteal(thief.domain, victimDomain, platform.nanoTime());
    }

    /** The domain in which to wake a worker at once because a queue of a domain has grown, or -1. */
    int helperOf(int domain) {
        return policy.helperOf(domain);
    }

    /** The state of the domains for {@link WakePolicy}. */
    private final class SeenDomains implements WakePolicy.Domains {
        @Override
        public int waiting(int domain) {
            return pool.waitingIn(domain);
        }

        @Override
        public int idle(int domain) {
            int idle = 0;
            for (int i = 0; i < layout.shardsIn(domain); i++) {
                idle += shards[layout.shardIn(domain, i)].idle();
            }
            return idle;
        }

        @Override
        public int crossings(int domain) {
            int crossings = 0;
            for (int i = 0; i < layout.shardsIn(domain); i++) {
                crossings += shards[layout.shardIn(domain, i)].crossings();
            }
            return crossings;
        }

        @Override
        public long idleNanos(int domain) {
            long now = platform.nanoTime();
            long nanos = 0;
            for (int i = 0; i < layout.shardsIn(domain); i++) {
                nanos = Math.max(nanos, shards[layout.shardIn(domain, i)].idleNanos(now));
            }
            return nanos;
        }

        @Override
        public Backlog backlog(int domain) {
            return backlogs.get(domain);
        }

        @Override
        public CrossingCost crossing(int domain) {
            return crossings.get(domain);
        }
    }

    /** Updates the cost of crossing by a task that has ended. Throws nothing. */
    void measured(Worker worker, int home, long nanos, long bytes) {
        if (bytes == 0 || layout.domains() == 1 || !isGated()) {
            return;
        }
        try {
            boolean crossed = home != worker.domain;
            if (crossed || worker.measuresThis()) {
                CrossingCost before = crossings.get(home);
                CrossingCost after = crossed
                        ? before.crossed(nanos, bytes)
                        : before.atHome(nanos, bytes, CrossingCost.TASKS_PER_MEASURE);
                // If this fails, another thread has stored a similar measurement.
                crossings.compareAndSet(home, before, after);
            }
        } catch (OutOfMemoryError | StackOverflowError error) {
            // This measurement is lost.
            return;
        }
    }
}
