package io.github.roost.core.pool;

import io.github.roost.core.dispatch.CrossingCost;
import io.github.roost.core.dispatch.Crossings;
import io.github.roost.core.dispatch.QueueAge;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.policy.SchedulingPolicy.Gate;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.TaskQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The state by which {@link Crossings} decides when workers of one domain take tasks of another: the age of each queue, which {@link Watch} and the workers that look for
 * tasks bring up to date, and each domain's measured cost of crossing. Thread-safe: an age is replaced by compare-and-set, so of two threads
 * that update it at once one does nothing.
 */
final class CrossDomainHelp {
    private final WorkerPool pool;
    private final WorkerLayout layout;
    private final boolean gated;
    private final boolean byAge;
    private final Crossings rule;
    private final Crossings.Domains domains = new SeenDomains();
    private final AtomicReferenceArray<CrossingCost> costs;
    /** The ages of the queues, worker by worker. */
    private final AtomicReferenceArray<QueueAge> ages;
    /** Per domain, whether a task was old at the last update: so an idle worker reads one word per domain. */
    private final AtomicIntegerArray anyOld;
    /** From when a worker that is awake may update the ages. */
    private final AtomicLong nextUpdate;

    private final int queues;

    CrossDomainHelp(WorkerPool pool, WorkerPool.Setup setup) {
        this.pool = pool;
        this.layout = setup.layout();
        this.gated = setup.scheduling().gated();
        this.byAge = setup.scheduling().gate() == Gate.AGE;
        this.costs = new AtomicReferenceArray<>(layout.domains());
        for (int domain = 0; domain < layout.domains(); domain++) {
            costs.set(domain, CrossingCost.UNKNOWN);
        }
        this.queues = pool.worker(0).queues.size();
        this.ages = new AtomicReferenceArray<>(layout.workers() * queues);
        for (int queue = 0; queue < ages.length(); queue++) {
            ages.set(queue, QueueAge.NONE);
        }
        this.nextUpdate = new AtomicLong(pool.platform().nanoTime());
        this.anyOld = new AtomicIntegerArray(layout.domains());
        this.rule = new Crossings(layout, setup.scheduling(), setup.gate(), domains);
    }

    Crossings rule() {
        return rule;
    }

    Crossings.Domains domains() {
        return domains;
    }

    boolean isGated() {
        return gated;
    }

    /** Brings the ages up to date, unless that was done a moment ago. Called by workers that look for tasks. */
    void updateIfDue() {
        if (byAge && layout.domains() > 1) {
            long now = pool.platform().nanoTime();
            long due = nextUpdate.get();
            if (now - due >= 0 && nextUpdate.compareAndSet(due, now + Crossings.AWAKE_LOOK_NANOS)) {
                update(now);
            }
        }
    }

    /** Brings the ages up to date. */
    void update(long now) {
        if (!byAge) {
            return;
        }
        for (int domain = 0; domain < layout.domains(); domain++) {
            long bound = rule.boundNanos(domain);
            for (int i = 0; i < layout.workersIn(domain); i++) {
                Worker worker = pool.worker(layout.workerIn(domain, i));
                for (int queue = 0; queue < queues; queue++) {
                    update(worker.index * queues + queue, worker.queues.get(queue), now, bound);
                }
            }
            anyOld.set(domain, countOld(domain) > 0 ? 1 : 0);
        }
    }

    private void update(int index, TaskQueue queue, long now, long bound) {
        QueueAge before = ages.get(index);
        QueueAge next = before.next(queue.taken(), queue.put(), now, bound);
        if (!next.equals(before)) {
            ages.compareAndSet(index, before, next);
        }
    }

    private long countOld(int domain) {
        long old = 0;
        for (int i = 0; i < layout.workersIn(domain); i++) {
            Worker worker = pool.worker(layout.workerIn(domain, i));
            for (int queue = 0; queue < queues; queue++) {
                old += old(worker, queue);
            }
        }
        return old;
    }

    private long old(Worker worker, int queue) {
        QueueAge age = ages.get(worker.index * queues + queue);
        TaskQueue tasks = worker.queues.get(queue);
        return age.oldPlaces() == 0 || !tasks.hasTasks() ? 0 : age.old(tasks.taken());
    }

    boolean gateOpens(int thiefDomain, int victimDomain) {
        return (!byAge || anyOld.get(victimDomain) != 0) && rule.mayTake(thiefDomain, victimDomain);
    }

    /** The number of tasks at a worker that may cross, if the gate of its domain is open. */
    int crossing(Worker victim) {
        if (!byAge) {
            return victim.waiting();
        }
        long old = 0;
        for (int queue = 0; queue < queues; queue++) {
            old += old(victim, queue);
        }
        return (int) Math.min(Integer.MAX_VALUE, old);
    }

    /** Takes a task that may cross; null if there is none left. */
    @Nullable
    Task takeAcross(Worker victim) {
        for (int queue = 0; queue < queues; queue++) {
            if (!byAge || old(victim, queue) > 0) {
                TaskQueue tasks = victim.queues.get(queue);
                Task task = tasks.poll();
                if (task != null) {
                    pool.room(victim, task.priority()).made();
                    return task;
                }
            }
        }
        return null;
    }

    /** Updates the cost of crossing by a task that has ended. */
    void measured(Worker worker, @Nullable Worker takenFrom, long nanos, long bytes) {
        if (layout.domains() == 1 || !gated) {
            return;
        }
        if (takenFrom != null) {
            CrossingCost before = costs.get(takenFrom.domain);
            // If this fails, another thread has stored a similar measurement.
            costs.compareAndSet(takenFrom.domain, before, before.crossed(nanos, bytes));
        } else if (worker.measuresThis()) {
            CrossingCost before = costs.get(worker.domain);
            costs.compareAndSet(worker.domain, before, before.atHome(nanos, bytes));
        }
    }

    /** The state of the domains for the rule. */
    private final class SeenDomains implements Crossings.Domains {
        @Override
        public int waiting(int domain) {
            return pool.waitingIn(domain);
        }

        @Override
        public int idle(int domain) {
            return pool.idle().idle(domain);
        }

        @Override
        public long old(int domain) {
            return countOld(domain);
        }

        @Override
        public CrossingCost cost(int domain) {
            return costs.get(domain);
        }
    }
}
