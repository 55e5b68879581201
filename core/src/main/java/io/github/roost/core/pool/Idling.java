package io.github.roost.core.pool;

import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.pool.WorkerCounters.Counter;

/**
 * What a runner does while it has no task: looks for one, at first in quick succession, then sleeps until it is woken. Used only by
 * the runner's thread. {@link Worker} says why no wake-up is lost.
 */
final class Idling {
    /** Sleep of a worker before it retries to fail a task that it could not fail. */
    private static final long UNANSWERED_PAUSE_NANOS = 1_000_000;
    /** A look takes about 100 ns; a yield of the core costs several times that, even if no thread uses it. */
    private static final int LOOKS_PER_YIELD = 16;

    private final Runner runner;
    private final Worker worker;
    private final WorkerPool pool;
    private final ShardState shard;
    private final TaskChoice choice;
    private final MaintenanceTurns maintenance;
    private final Progress progress;
    private final WorkerTimeSlice timeSlice;
    private final WorkerCounters counters;

    private IdleStrategy idleStrategy;
    /** Whether this worker counts as idle in its shard. */
    private boolean countedIdle;

    Idling(
            Runner runner,
            WorkerPool pool,
            TaskChoice choice,
            MaintenanceTurns maintenance,
            Progress progress,
            WorkerTimeSlice timeSlice,
            WorkerCounters counters) {
        this.runner = runner;
        this.worker = runner.worker();
        this.pool = pool;
        this.shard = pool.shard(worker.shard);
        this.choice = choice;
        this.maintenance = maintenance;
        this.progress = progress;
        this.timeSlice = timeSlice;
        this.counters = counters;
        this.idleStrategy = pool.idleStrategy();
    }

    /** Looks and sleeps until there is a task in hand; false if the worker is to end. */
    boolean waitForTask() {
        progress.endOfLast(0);
        maintenance.idleBegins();
        shard.idleBegins(pool.platform().nanoTime());
        countedIdle = true;
        boolean found = false;
        for (int looks = 1; !found && runner.goesOn(); looks++) {
            found = choice.nextWhenIdle() || findsWhilePausing(looks) || choice.next();
        }
        end();
        return found;
    }

    /** Ends the idle time if an error has interrupted it. */
    void recover() {
        if (countedIdle) {
            end();
        }
    }

    private void end() {
        countedIdle = false;
        shard.idleEnds();
    }

    /** Pauses before the next look; instead of going to sleep, takes a task in hand if any domain has one: whether it did. */
    private boolean findsWhilePausing(int looks) {
        if (maintenance.mayFillLater()) {
            Thread.onSpinWait();
        } else if (looksAgain(looks)) {
            spin(looks);
        } else if (choice.nextAnywhere()) {
            return true;
        } else {
            park();
        }
        return false;
    }

    /** Calls the idle strategy; after a failure replaces it, since restarting the thread would not help. */
    private boolean looksAgain(int looks) {
        try {
            return idleStrategy.looksAgain(looks);
        } catch (Throwable e) {
            idleStrategy = IdleStrategy.spinThenPark(0);
            pool.idleStrategyFailed(worker, e);
            return false;
        }
    }

    /**
     * Callers share the cores, so an idle worker must not keep the core from a thread that is about to submit. At the first look
     * that may be the caller whose answer was just delivered, and which was woken on this core.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    private static void spin(int looks) {
        if (looks % LOOKS_PER_YIELD == 1) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // the purpose is to yield the core
    private void park() {
        timeSlice.batchEnds();
        shard.parkBegins();
        try {
            worker.parks(runner);
            if (runner.mayTakeSomething()) {
                // A task is visible but another thread is about to put or take it, perhaps on this core.
                Thread.yield();
            } else if (worker.sources.armed(runner)) {
                sleep();
            }
        } finally {
            worker.getsUp(runner);
            shard.parkEnds();
        }
    }

    private void sleep() {
        long nanos = worker.parked.nanosToDeadline();
        if (worker.incomplete.size() > 0 || worker.sources.unarmed()) {
            nanos = Math.min(nanos, UNANSWERED_PAUSE_NANOS);
        }
        if (nanos == Long.MAX_VALUE) {
            counters.add(Counter.PARKS, 1);
            pool.platform().park(worker);
        } else if (nanos > 0) {
            pool.platform().parkNanos(worker, nanos);
        }
    }
}
