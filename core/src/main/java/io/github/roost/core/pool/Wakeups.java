package io.github.roost.core.pool;

import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.policy.SchedulingPolicy.Reach;

/**
 * Wakes sleeping workers for tasks that wait. First comes the worker that the task was put at, or the worker of the caller's core;
 * if that one is busy, one that may steal from it. Thread-safe.
 */
final class Wakeups {
    private final WorkerPool pool;
    private final Platform platform;
    private final WorkerLayout layout;
    private final Worker[] workers;
    private final ShardState[] shards;
    private final CallerCore callerCore;
    private final CrossDomainHelp help;
    private final Reach reach;
    private final int backlogPerWorker;
    /** Set if an error may have prevented a wake-up; {@link Watch} then wakes the workers. */
    private volatile boolean mayHaveMissed;

    Wakeups(
            WorkerPool pool,
            WorkerPool.Setup setup,
            Worker[] workers,
            ShardState[] shards,
            CallerCore callerCore,
            CrossDomainHelp help,
            Platform platform) {
        this.pool = pool;
        this.platform = platform;
        this.layout = setup.layout();
        this.workers = workers;
        this.shards = shards;
        this.callerCore = callerCore;
        this.help = help;
        this.reach = setup.scheduling().reach();
        this.backlogPerWorker = setup.gate().backlogPerWorker();
    }

    /** As {@link #added(Worker)}. */
    void added(int worker) {
        added(workers[worker]);
    }

    /**
     * Wakes a worker after a task was put where a worker finds it. The task is accepted by then, so this throws nothing. If memory
     * or stack is out, the wake-up may be missed; then {@link Watch} or the next task wakes a worker.
     */
    void added(Worker target) {
        try {
            Faults.point();
            if (pool.isTerminated()) {
                // The terminating thread may have stopped waiting for this task.
                pool.failWaiting();
            }
            boolean wasParked = target.isParked();
            if (wasParked) {
                wakeTarget(target);
            }
            if (mayNeedHelp(target) && (wasParked ? target.waiting() > 1 : target.isRunning())) {
                wakeHelper(target);
            }
        } catch (Throwable error) {
            missedWakeup();
        }
    }

    /** Called if an error may have prevented a wake-up: makes {@link Watch} wake the workers. Throws nothing. */
    void missedWakeup() {
        mayHaveMissed = true;
        pool.armWatch();
    }

    /** Wakes the target, or the worker on the caller's core if it sleeps too and may take the target's tasks. */
    private void wakeTarget(Worker target) {
        int near = reach == Reach.WORKER ? -1 : callerCore.worker();
        boolean woken =
                near >= 0 && near != target.index && workers[near].domain == target.domain && workers[near].wake();
        if (!woken) {
            target.wake();
        }
    }

    /** Called before a worker runs a slice: wakes workers for tasks that wait behind it, or that have been overlooked. */
    void wakeFor(Worker busy) {
        if (mayNeedHelp(busy) && busy.waiting() > 0) {
            wakeHelper(busy);
        }
        wakeOverlooked(busy.shard);
    }

    /**
     * Wakes the workers of a shard that sleep although tasks wait at them: the worker that was woken in their place has found
     * another task to run.
     */
    private void wakeOverlooked(int shard) {
        if (shards[shard].parked() == 0) {
            return;
        }
        for (int i = 0; i < layout.workersInShard(shard); i++) {
            Worker worker = workers[layout.workerInShard(shard, i)];
            if (worker.isParked() && worker.waiting() > 0) {
                worker.wake();
            }
        }
    }

    /** Whether {@link #wakeHelper} could have an effect; cheaper than checking whether the target is running. */
    private boolean mayNeedHelp(Worker target) {
        return layout.domains() > 1 || layout.shardsIn(target.domain) > 1 || shards[target.shard].parked() > 0;
    }

    /** Wakes a sleeping worker that may steal the tasks that wait at the target, which is busy. */
    private void wakeHelper(Worker target) {
        if (reach == Reach.WORKER || wakeNear(target)) {
            return;
        }
        if (reach == Reach.MACHINE || !help.isGated()) {
            for (int i = 1; i < layout.domains(); i++) {
                if (wakeOneOf((target.domain + i) % layout.domains())) {
                    return;
                }
            }
        } else if (layout.domains() > 1) {
            if (target.waiting() >= backlogPerWorker) {
                help.noteBacklog(target.domain);
            }
            int helper = help.helperOf(target.domain);
            if (helper >= 0) {
                wakeOneOf(helper);
            }
        }
    }

    private boolean wakeNear(Worker target) {
        return wakeOneOfShard(target.shard) || (layout.shardsIn(target.domain) > 1 && wakeOneOf(target.domain));
    }

    /** Wakes a sleeping worker of a domain; whether there was one. */
    boolean wakeOneOf(int domain) {
        int shardsThere = layout.shardsIn(domain);
        int start = shardsThere == 1 ? 0 : platform.random(shardsThere);
        for (int i = 0; i < shardsThere; i++) {
            if (wakeOneOfShard(layout.shardIn(domain, (start + i) % shardsThere))) {
                return true;
            }
        }
        return false;
    }

    private boolean wakeOneOfShard(int shard) {
        if (shards[shard].parked() == 0) {
            return false;
        }
        int count = layout.workersInShard(shard);
        int start = platform.random(count);
        for (int i = 0; i < count; i++) {
            if (workers[layout.workerInShard(shard, (start + i) % count)].wake()) {
                return true;
            }
        }
        return false;
    }

    /** Called when a worker has taken a task of another domain: wakes the next worker of its domain that may take one. */
    void stole(Worker thief, int victimDomain) {
        if (help.wakesNext(thief, victimDomain)) {
            wakeOneOf(thief.domain);
        }
    }

    /** Wakes the workers that an error may have left asleep. */
    void catchUp() {
        if (mayHaveMissed) {
            mayHaveMissed = false;
            for (int shard = 0; shard < shards.length; shard++) {
                wakeOverlooked(shard);
            }
            for (int domain = 0; domain < layout.domains(); domain++) {
                if (pool.maintenance(domain).size() > 0) {
                    wakeOneOf(domain);
                }
            }
        }
    }
}
