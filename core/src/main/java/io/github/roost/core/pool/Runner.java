package io.github.roost.core.pool;

import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.TaskQueue;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * What runs a worker in a thread: takes a task, runs a slice of it, and sleeps if there is nothing to run. {@link TaskChoice} says which
 * task is next, {@link Slices} how it runs and what follows.
 *
 * <p>A slice that waits for a future runs the tasks that it has itself submitted and that have not begun, and nothing else. For all other
 * waits the worker gets a fresh runner in another thread, and this one ends after its slice. So a task is never above another on a
 * stack that waits for it.
 */
final class Runner {
    /** A yield of the core that takes longer than this has let another thread run. */
    private static final long CROWDED_NANOS = 100_000;
    /** How long a worker whose core is wanted by other threads goes to sleep at once. */
    private static final long CROWDED_FOR_NANOS = 10_000_000;
    /** A look takes about 100 ns; a yield of the core costs several times that, even if no thread uses it. */
    private static final int LOOKS_PER_YIELD = 16;
    /** Sleep of a worker one of whose completion sources may not wake it. */
    private static final long UNARMED_NANOS = 1_000_000;

    private final Worker worker;
    private final WorkerPool pool;
    private final IdleWorkers idle;
    private final WorkerTimeSlice timeSlice = new WorkerTimeSlice();
    private final WorkerCounters counters = new WorkerCounters();
    private final MaintenanceTurns maintenance;
    private final TaskChoice choice;
    private final Slices slices;
    private final BatchYield batchYield;
    /** Whether it alone counts in the worker's lane of epochs. */
    private final boolean hasLane;

    private IdleStrategy idleStrategy;
    private long crowdedUntil = System.nanoTime();
    /** The runner before this one, until the thread begins: kept, it would keep all before it. */
    private @Nullable Runner replaced;
    /** Written once, as the thread begins. */
    private volatile @Nullable WorkerThread thread;

    /** @param replaced the runner that runs the worker before this one; null for none */
    Runner(Worker worker, WorkerPool pool, @Nullable Runner replaced) {
        this.replaced = replaced;
        this.worker = worker;
        this.pool = pool;
        this.idle = pool.idle();
        this.idleStrategy = pool.idleStrategy();
        this.maintenance = new MaintenanceTurns(this, pool);
        this.choice = new TaskChoice(this, pool, maintenance, timeSlice, counters);
        this.slices = new Slices(this, pool, maintenance, counters);
        this.batchYield = new BatchYield(choice, slices, maintenance, timeSlice);
        this.hasLane = worker.register(this, counters);
    }

    Worker worker() {
        return worker;
    }

    Slices slices() {
        return slices;
    }

    /** Whether there is a task that it may take without the gate. */
    boolean seesTask() {
        return choice.seesTask();
    }

    WorkerPool pool() {
        return pool;
    }

    /** The worker of another domain that the last task was taken from, or null; told once. */
    @Nullable
    Worker takenFrom() {
        return choice.takenFrom();
    }

    boolean hasLane() {
        return hasLane;
    }

    /** Whether a task that goes on may do so at once, ahead of those that wait. */
    boolean mayFollow(Task task) {
        return choice.mayFollow(task.priority());
    }

    /** Its thread; null before it has begun. */
    @Nullable
    WorkerThread thread() {
        return thread;
    }

    /** Runs the worker until the pool is terminated or the worker has another runner. */
    @SuppressWarnings(
            "ThreadPriorityCheck") // for the moment until the starting thread has made this the worker's runner
    void run(WorkerThread self) {
        thread = self;
        while (!worker.isRunBy(this) && worker.isRunBy(replaced)) {
            Thread.yield();
        }
        replaced = null;
        Task task = null;
        try {
            worker.pinned(pool.pin(worker));
            timeSlice.begin(pool.usualTimeSlice());
            while (goesOn()) {
                task = choice.next();
                if (task == null) {
                    task = waitForTask();
                }
                if (task != null) {
                    maintenance.endStall(task, choice.tookResumed());
                    slices.run(task);
                }
            }
        } catch (Throwable unexpected) {
            pool.breaks(unexpected);
            if (task != null) {
                task.fail(unexpected);
                task.failRunning(unexpected);
            }
        }
    }

    /** Whether the thread still runs the worker. */
    boolean goesOn() {
        return !pool.isTerminated() && worker.isRunBy(this);
    }

    // ---- Without a task.

    /** Looks and sleeps until there is a task; null if the worker is to end. */
    private @Nullable Task waitForTask() {
        slices.idleBegins();
        maintenance.idleBegins();
        worker.idle(true);
        idle.looks(worker);
        Task task = null;
        for (int looks = 1; task == null && goesOn(); looks++) {
            task = choice.nextWhenIdle();
            if (task == null) {
                task = pause(looks);
            }
            if (task == null) {
                task = nextWhileLooking();
            }
        }
        worker.idle(false);
        if (task == null) {
            idle.stops(worker);
        } else {
            idle.found(worker);
        }
        return task;
    }

    /** Polls the completion sources, whose callbacks may be user code, as a worker that is not looking; then takes a task. */
    private @Nullable Task nextWhileLooking() {
        if (worker.sources.any()) {
            worker.idle(false);
            idle.found(worker);
            choice.lookAround();
            idle.looks(worker);
            worker.idle(true);
        }
        return choice.take();
    }

    /** Pauses before the next look; before it sleeps, takes a task if any worker has one for it. */
    private @Nullable Task pause(int looks) {
        if (maintenance.mayFillLater()) {
            Thread.onSpinWait();
        } else if (looksAgain(looks)) {
            spin(looks);
        } else {
            Task task = choice.nextAnywhere();
            if (task != null) {
                return task;
            }
            park();
        }
        return null;
    }

    /** Calls the idle strategy; after a failure replaces it, since restarting the thread would not help. */
    private boolean looksAgain(int looks) {
        try {
            return idleStrategy.looksAgain(looks) && (looks > 1 || System.nanoTime() - crowdedUntil >= 0);
        } catch (Throwable e) {
            idleStrategy = IdleStrategy.spinThenPark(0);
            pool.idleStrategyFailed(worker, e);
            return false;
        }
    }

    /**
     * Callers share the cores, so an idle worker must not keep the core from a thread that is about to submit. At the first look
     * that may be the caller whose answer was just delivered, and which was woken on this core. If a yield takes so long that another thread
     * has run, this one sleeps at once for some time: beside a CPU-bound thread every yield costs a whole time slice.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    private void spin(int looks) {
        if (looks % LOOKS_PER_YIELD != 1) {
            Thread.onSpinWait();
            return;
        }
        long left = System.nanoTime();
        Thread.yield();
        long back = System.nanoTime();
        if (back - left > CROWDED_NANOS) {
            crowdedUntil = back + CROWDED_FOR_NANOS;
        }
    }

    private void park() {
        timeSlice.batchEnds();
        if (!idle.fallsAsleep(worker, this)) {
            return;
        }
        try {
            if (goesOn() && !seesTask() && worker.sources.armed(this)) {
                sleep();
            }
        } finally {
            idle.getsUp(worker, this);
        }
    }

    private void sleep() {
        // Set by another thread, it would end every sleep at once.
        Thread.interrupted();
        pool.aboutToSleep(worker);
        if (worker.sources.unarmed()) {
            pool.platform().parkNanos(worker, UNARMED_NANOS);
        } else {
            counters.add(Counter.PARKS, 1);
            pool.platform().park(worker);
        }
    }

    // ---- Called in a slice, by this thread.

    /** How batch work lets searches go first. */
    BatchYield batchYield() {
        return batchYield;
    }

    /** Called when the running slice has submitted a task, for which it may wait later. */
    void submitted(Task task, TaskQueue queue, long place) {
        Frame frame = slices.current();
        if (frame != null) {
            frame.submitted(task, queue, place);
            mayBlock(frame);
        }
    }

    /** Called when the running slice is about to wait in a way that Roost does not see. */
    void aboutToBlock() {
        Frame frame = slices.current();
        if (frame != null) {
            mayBlock(frame);
        }
    }

    private void mayBlock(Frame frame) {
        if (frame.setMayBlock()) {
            slices.countMayBlock(1);
            pool.watch().arm();
        }
    }

    /**
     * Prepares the wait of the running slice for a future: runs its unstarted children, newest first, until the future is done or the thread is
     * interrupted; then gives the worker a fresh runner.
     */
    void beforeWait(Future<?> future) {
        Frame waiting = slices.current();
        while (!future.isDone() && !Thread.currentThread().isInterrupted()) {
            StackRoom.require();
            Task child = waiting == null ? null : waiting.takeChild();
            if (child == null) {
                handOver();
                return;
            }
            slices.runNested(child);
        }
    }

    /** Gives the worker a fresh runner, since this thread is about to block; if too many are blocked, the watch does so later. */
    void handOver() {
        if (goesOn() && !pool.relieve(worker, this)) {
            aboutToBlock();
        }
    }

    // ---- For any thread.

    /** Whether the thread is blocked while its slice may block it: it may wait for a task that it submitted. */
    boolean isBlocked() {
        WorkerThread running = thread;
        return running != null
                && slices.mayBlock()
                && switch (running.getState()) {
                    case BLOCKED, WAITING, TIMED_WAITING -> true;
                    default -> false;
                };
    }
}
