package io.github.roost.core.pool;

import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.policy.SchedulingPolicy.Reach;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which workers have nothing to run, and the one rule by which they are woken. One word per domain counts its workers that look for
 * a task and those that sleep; a worker that was woken counts as looking at once. Thread-safe.
 *
 * <p><b>The rule.</b> A thread that has put a task reads the word of its domain. If a worker sleeps, it wakes the task's worker if
 * that one sleeps, else one that sleeps unless another is looking. A worker that finds a task after it has looked for one counts
 * itself out and then wakes another, if one sleeps, none looks, and a task waits in the domain.
 *
 * <p><b>No wake-up is lost:</b> if a task waits in a domain of which a worker sleeps, then a worker of the domain is looking, or a thread
 * is on its way to wake one. A looking worker runs a task or sleeps. Before it sleeps, it counts itself as asleep, marks itself ({@link Worker#marksAsleep}), and
 * then reads every queue of the domain. The thread that puts a task does so before it reads the word and the mark. All four are sequentially
 * consistent, so at least one of the two sees the other (Dekker's algorithm): the worker finds the task, or the thread finds the
 * worker asleep. If that thread then wakes nobody, it has seen another worker look, to which the same applies. Nor does a worker
 * that runs a task leave one behind: it counts itself out before it reads the queues. A thread that puts a task after that read reads the word
 * after that change, so it does not mistake this worker for one that looks.
 *
 * <p>Under a policy by which workers take tasks of all domains without a gate, the same holds for the words and queues of all
 * domains together; under one by which each takes only its own, for each worker alone.
 */
final class IdleWorkers {
    /** Longs from one word to the next: two cache lines, since processors fetch lines in pairs. */
    private static final int STRIDE = 16;

    private static final long LOOKING = 1;
    private static final long ASLEEP = 1L << Integer.SIZE;

    private final WorkerPool pool;
    private final WorkerLayout layout;
    private final CallerCore callerCore;
    private final Reach reach;
    /** Whether a worker may take the tasks of all domains without a gate. */
    private final boolean anywhere;

    private final AtomicLongArray words;

    IdleWorkers(WorkerPool pool, WorkerPool.Setup setup, CallerCore callerCore) {
        this.pool = pool;
        this.layout = setup.layout();
        this.callerCore = callerCore;
        this.reach = setup.scheduling().reach();
        this.anywhere = reach == Reach.MACHINE
                || (reach == Reach.DOMAIN && !setup.scheduling().gated());
        this.words = new AtomicLongArray((layout.domains() + 1) * STRIDE);
    }

    private static int index(int domain) {
        return (domain + 1) * STRIDE;
    }

    private static int looking(long word) {
        return (int) word;
    }

    private static int asleep(long word) {
        return (int) (word >>> Integer.SIZE);
    }

    /** The number of a domain's workers that have nothing to run. */
    int idle(int domain) {
        long word = words.get(index(domain));
        return looking(word) + asleep(word);
    }

    /** Whether a worker of a domain sleeps. */
    boolean anyAsleep(int domain) {
        return asleep(words.get(index(domain))) > 0;
    }

    // ---- Called by the worker's thread.

    void looks(Worker worker) {
        words.getAndAdd(index(worker.domain), LOOKING);
    }

    /** Called when a looking worker has found a task, before it runs it: wakes another worker for further tasks. */
    void found(Worker worker) {
        long word = words.addAndGet(index(worker.domain), -LOOKING);
        if (looking(word) > 0) {
            return;
        }
        if (asleep(word) > 0 && pool.maintenance(worker.domain).hasTasks()) {
            // Under every policy any worker of the domain may run it.
            wakeAfter(worker);
            return;
        }
        if (reach == Reach.WORKER) {
            return;
        }
        if (anywhere) {
            wakeAnywhere(worker.domain);
        } else if ((asleep(word) > 0 || layout.domains() > 1) && pool.anythingWaitsIn(worker.domain)) {
            if (asleep(word) == 0) {
                pool.watch().arm();
            } else {
                wakeAfter(worker);
            }
        }
    }

    /** Wakes a worker of any domain, the given one first, if a task waits in any. */
    private void wakeAnywhere(int domain) {
        for (int step = 0; step < layout.domains(); step++) {
            int other = (domain + step) % layout.domains();
            if (anyAsleep(other)) {
                if (pool.anythingWaits()) {
                    wakeFirst(other);
                }
                return;
            }
        }
    }

    /** Called when a looking worker stops, to end. */
    void stops(Worker worker) {
        words.getAndAdd(index(worker.domain), -LOOKING);
    }

    /** Counts and marks a looking worker as asleep; false if another runner of it is marked. Then it looks at all queues once more. */
    boolean fallsAsleep(Worker worker, Runner runner) {
        words.getAndAdd(index(worker.domain), ASLEEP - LOOKING);
        if (worker.marksAsleep(runner)) {
            return true;
        }
        words.getAndAdd(index(worker.domain), LOOKING - ASLEEP);
        return false;
    }

    /** Called when a worker that may still be marked as asleep looks again. */
    void getsUp(Worker worker, Runner runner) {
        if (worker.unmarks(runner)) {
            words.getAndAdd(index(worker.domain), LOOKING - ASLEEP);
        }
    }

    // ---- Called by any thread.

    /** Wakes a worker if it sleeps; whether this call did. */
    boolean wake(Worker worker) {
        Runner runner = worker.asleep();
        if (runner == null || !worker.unmarks(runner)) {
            return false;
        }
        words.getAndAdd(index(worker.domain), LOOKING - ASLEEP);
        pool.platform().unpark(worker, runner.thread());
        return true;
    }

    /** Called after a task was put at a worker: wakes a worker by the rule. */
    void added(Worker target) {
        if (pool.failsWaiting()) {
            // The thread that fails the waiting tasks may have done so before this one was put.
            pool.failWaitingAt(target);
        }
        if (reach == Reach.WORKER) {
            wake(target);
            return;
        }
        long word = words.get(index(target.domain));
        if (asleep(word) > 0) {
            if (!wakeTarget(target) && looking(word) == 0) {
                wakeAfter(target);
            }
        } else if (looking(word) == 0 && layout.domains() > 1) {
            if (anywhere) {
                wakeElsewhere(target.domain);
            } else {
                pool.watch().arm();
            }
        }
    }

    /** Called after a task of maintenance was put into the queue of a domain. */
    void addedMaintenance(int domain) {
        if (pool.failsWaiting()) {
            pool.failMaintenance(domain);
        }
        if (looking(words.get(index(domain))) == 0) {
            wakeFirst(domain);
        }
    }

    /** Wakes the target if it sleeps, or the worker on the caller's core in its place: that is cheaper. */
    private boolean wakeTarget(Worker target) {
        if (target.asleep() == null) {
            return false;
        }
        int near = callerCore.worker();
        return (near >= 0 && near != target.index && layout.domainOf(near) == target.domain && wake(pool.worker(near)))
                || wake(target);
    }

    /** Wakes the next sleeping worker of a domain after one of its workers. */
    boolean wakeAfter(Worker worker) {
        int count = layout.workersIn(worker.domain);
        int first = layout.workerIn(worker.domain, 0);
        for (int step = 1; step <= count; step++) {
            if (wake(pool.worker(first + (worker.index - first + step) % count))) {
                return true;
            }
        }
        return false;
    }

    /** Wakes the first sleeping worker of a domain; whether there was one. */
    boolean wakeFirst(int domain) {
        return anyAsleep(domain) && wakeAfter(pool.worker(layout.workerIn(domain, layout.workersIn(domain) - 1)));
    }

    private void wakeElsewhere(int domain) {
        for (int step = 1; step < layout.domains(); step++) {
            int other = (domain + step) % layout.domains();
            long word = words.get(index(other));
            if (looking(word) > 0 || (asleep(word) > 0 && wakeFirst(other))) {
                return;
            }
        }
    }
}
