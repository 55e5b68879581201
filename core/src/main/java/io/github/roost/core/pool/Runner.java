package io.github.roost.core.pool;

import org.jspecify.annotations.Nullable;

/**
 * The thread that runs a worker: takes a task, runs a slice of it, and sleeps if there is nothing to run. {@link TaskChoice} says
 * which task is next, {@link Slices} how it runs and what follows, {@link Idling} what happens without a task. A slice waits in
 * {@link NestedWaiting}; batch work lets searches go first in {@link BatchYield}.
 *
 * <p>No error loses a task. From the moment it is taken, a task is {@linkplain TaskInHand in hand} or in a stack frame, and the
 * code that catches the error fails it. If that also fails because memory is out, the task goes into a list that needs no
 * allocation and is failed later. The thread survives all errors.
 */
final class Runner implements Runnable {
    private final Worker worker;
    private final WorkerPool pool;
    private final @Nullable Runner replaced;
    private final WorkerTimeSlice timeSlice = new WorkerTimeSlice();
    private final Progress progress = new Progress();
    private final TaskInHand hand;
    private final MaintenanceTurns maintenance;
    private final TaskChoice choice;
    private final Idling idling;
    private final Slices slices;
    private final NestedWaiting waiting;
    private final BatchYield batchYield;
    private final WorkerThread thread;

    /** @param replaced the runner that runs the worker before this one; null for none */
    Runner(Worker worker, WorkerPool pool, @Nullable Runner replaced) {
        this.replaced = replaced;
        this.worker = worker;
        this.pool = pool;
        WorkerCounters counters = new WorkerCounters();
        this.hand = new TaskInHand(worker, pool);
        this.maintenance = new MaintenanceTurns(this, pool, progress);
        this.choice = new TaskChoice(this, pool, hand, maintenance, progress, timeSlice, counters);
        this.idling = new Idling(this, pool, choice, maintenance, progress, timeSlice, counters);
        this.slices = new Slices(worker, pool, hand, choice, maintenance, progress, counters);
        this.waiting = new NestedWaiting(pool, hand, choice, slices, progress);
        this.batchYield = new BatchYield(choice, slices, progress, timeSlice);
        this.thread = new WorkerThread(this, "roost-worker-" + worker.domain + "." + worker.index);
        // Last: if there is no memory for the rest, nothing is registered.
        worker.counts(this, counters);
    }

    void start() {
        thread.start();
    }

    WorkerThread thread() {
        return thread;
    }

    Worker worker() {
        return worker;
    }

    @Override
    @SuppressWarnings(
            "ThreadPriorityCheck") // for the moment until the starting thread has made this the worker's runner
    public void run() {
        while (!worker.isRunBy(this) && worker.isRunBy(replaced)) {
            Thread.yield();
        }
        boolean pinned = false;
        Throwable error = null;
        while (error != null || goesOn()) {
            try {
                if (error != null) {
                    recover(error);
                    error = null;
                }
                if (!pinned) {
                    pinned = true;
                    worker.pinned(pool.pin(worker));
                    timeSlice.begin();
                }
                loop();
            } catch (Throwable unexpected) {
                // Recovered from in the loop: if memory is out for that too, it is tried again.
                error = unexpected;
            }
        }
        pool.ended(this);
    }

    /** Whether the thread still runs the worker. */
    boolean goesOn() {
        return !pool.isTerminated() && worker.isRunBy(this);
    }

    private void loop() {
        while (goesOn()) {
            if (choice.next() || idling.waitForTask()) {
                maintenance.endStall(hand);
                slices.run();
            }
        }
    }

    /** Recovers from an error outside of tasks: fails the task in hand, and resets the state that other threads read. */
    private void recover(Throwable unexpected) {
        hand.fail(unexpected);
        progress.recover();
        idling.recover();
        worker.getsUp(this);
        pool.restarted(worker, unexpected);
    }

    /** Whether a worker that has marked itself as asleep must stay awake: it is to end, or there is a task that it may take. */
    boolean mayTakeSomething() {
        return !goesOn() || choice.seesTask();
    }

    // ---- Called in a slice, by this thread.

    /** How a slice waits for others. */
    NestedWaiting waiting() {
        return waiting;
    }

    /** How batch work lets searches go first. */
    BatchYield batchYield() {
        return batchYield;
    }

    // ---- For any thread.

    /** Whether a task runs. */
    boolean isRunning() {
        return progress.current() != null;
    }

    /** What the thread is doing. */
    Progress progress() {
        return progress;
    }

    /** Whether the thread is blocked while its slice may block it: it may wait for a task that it submitted. */
    boolean isBlocked() {
        return progress.mayBlock()
                && switch (thread.getState()) {
                    case BLOCKED, WAITING, TIMED_WAITING -> true;
                    default -> false;
                };
    }

    /** Fails the task that runs and the tasks that it is nested in. */
    void failRunning(Throwable cause) {
        for (Frame frame = progress.current(); frame != null; frame = frame.outer()) {
            frame.fail(cause);
        }
    }
}
