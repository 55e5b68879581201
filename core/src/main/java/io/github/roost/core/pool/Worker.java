package io.github.roost.core.pool;

import io.github.roost.core.dispatch.IdleStrategy;
import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.Stealing;
import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.task.Priority;
import io.github.roost.topology.PinResult;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One worker: runs what is in its rings, then what it may steal, then sleeps.
 *
 * <p>No wake-up is lost: a submitter first counts its task into a ring and then looks whether a worker sleeps; a worker
 * first marks itself {@link #PARKED} and then looks at the counts of all rings it may take from. Both are sequentially
 * consistent, so at least one of the two sees the other (Dekker's argument): either the worker stays up, or the
 * submitter wakes it, or wakes another of the domain in its place. That one looks at the rings of the whole domain after
 * it was woken; if it comes upon something else to run there, it first wakes whoever sleeps on tasks of their own.
 */
final class Worker implements Runnable {
    /** Interactive tasks after which a waiting batch task goes first, so that batch work is never starved. */
    private static final int INTERACTIVE_PER_BATCH = 32;
    /** How long a worker that waits for a derived future sleeps between looks for something to run. */
    private static final long HELP_PAUSE_NANOS = 50_000;
    /** How long batch work keeps the core from other threads: a hundred times as long as the call that lets them have it. */
    private static final long YIELD_NANOS = 50_000;
    /** How many times as long as it was away from the core batch work keeps it: at most a fifth of its time is given. */
    private static final long WORK_PER_YIELD = 4;

    private static final int UP = 0;
    private static final int PARKED = 1;
    private static final VarHandle STATE;
    private static final VarHandle CURRENT;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Worker.class, "state", int.class);
            CURRENT = MethodHandles.lookup().findVarHandle(Progress.class, "current", Run.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final int index;
    final int domain;
    final Ring interactive;
    final Ring batch;
    final WorkerCounters counters = new WorkerCounters();
    private final WorkerPool pool;
    private final DomainState domainState;
    private final StealOrder stealOrder;
    private final Stealing<Task> stealing;
    /** The worker's own. */
    private IdleStrategy idleStrategy;

    private final BatchSlice batchSlice = new BatchSlice();

    /** Written by the worker (to PARKED and back) and by who wakes it (to UP). */
    @SuppressWarnings("unused")
    private volatile int state = UP;

    private final Progress progress = new Progress();
    /** Written by the worker's thread as it starts; a replacement thread writes it anew. */
    private volatile @Nullable PinResult pin;

    private volatile @Nullable WorkerThread thread;
    /** Whether this worker counts as idle in its domain; the worker's own. */
    private boolean countedIdle;

    Worker(int index, int domain, WorkerPool pool, DomainState domainState, StealOrder stealOrder, int ringCapacity) {
        this.index = index;
        this.domain = domain;
        this.pool = pool;
        this.domainState = domainState;
        this.stealOrder = stealOrder;
        this.stealing = new Stealing<>(
                stealOrder,
                new OtherWorkers(),
                bound -> ThreadLocalRandom.current().nextInt(bound));
        this.idleStrategy = pool.idleStrategy();
        this.interactive = new Ring(ringCapacity);
        this.batch = new Ring(ringCapacity);
    }

    void start() {
        WorkerThread fresh = new WorkerThread(this, "roost-worker-" + domain + "." + index);
        thread = fresh;
        fresh.start();
    }

    @Override
    public void run() {
        boolean finished = false;
        try {
            pin = pool.pin(this);
            while (!pool.isTerminated()) {
                Task task = next();
                if (task == null) {
                    task = waitForTask();
                }
                if (task != null) {
                    execute(task);
                }
            }
            finished = true;
        } finally {
            if (!finished) {
                died();
            }
        }
    }

    /** Leaves no trace of a dying thread in what others read, and hands the rings to a fresh one. */
    private void died() {
        // The fresh thread inherits the slice of this one, which starts it.
        batchSlice.end();
        if (countedIdle) {
            endIdle();
        }
        pool.replace(this);
    }

    private @Nullable Task next() {
        Task task = pollOwn();
        return task != null ? task : stealing.ungated();
    }

    private @Nullable Task pollOwn() {
        if (progress.interactiveSinceBatch >= INTERACTIVE_PER_BATCH && !progress.givesWay) {
            progress.interactiveSinceBatch = 0;
            Task task = batch.poll();
            if (task != null) {
                pool.taken(domain);
                return task;
            }
            batchSlice.end();
        }
        Task task = interactive.poll();
        if (task != null) {
            progress.interactiveSinceBatch++;
        } else if (!progress.givesWay) {
            task = batch.poll();
        }
        if (task != null) {
            pool.taken(domain);
        }
        return task;
    }

    private @Nullable Task pollAsThief(boolean alsoBatch) {
        Task task = interactive.poll();
        if (task == null && alsoBatch) {
            task = batch.poll();
        }
        if (task != null) {
            pool.taken(domain);
        }
        return task;
    }

    private @Nullable Task stealFrom(int victim) {
        Worker from = pool.worker(victim);
        Task task = from.pollAsThief(!progress.givesWay);
        if (task != null) {
            boolean intra = from.domain == domain;
            counters.add(intra ? Counter.INTRA_STEALS : Counter.CROSS_STEALS, 1);
            if (!intra) {
                pool.crossSteal(index, victim, task);
            }
        }
        return task;
    }

    private @Nullable Task waitForTask() {
        progress.endOfLast = 0;
        domainState.idleBegins();
        countedIdle = true;
        Task task = null;
        for (int looks = 1; task == null && !pool.isTerminated(); looks++) {
            if (looksAgain(looks)) {
                Thread.onSpinWait();
            } else {
                park();
            }
            task = next();
            if (task == null) {
                task = stealing.gated();
            }
        }
        endIdle();
        return task;
    }

    /** Asks the strategy, unless it has failed: a fresh thread would ask it the same. */
    private boolean looksAgain(int looks) {
        try {
            return idleStrategy.looksAgain(looks);
        } catch (Throwable e) {
            idleStrategy = IdleStrategy.spinThenPark(0);
            pool.idleStrategyFailed(this, e);
            return false;
        }
    }

    private void endIdle() {
        countedIdle = false;
        domainState.idleEnds();
    }

    private void park() {
        batchSlice.end();
        domainState.parkBegins();
        long nanos = laysDown() ? pool.nanosToNextCrossLook(domain, stealOrder) : 0;
        if (nanos == Long.MAX_VALUE) {
            counters.add(Counter.PARKS, 1);
            LockSupport.park(pool);
        } else if (nanos > 0) {
            LockSupport.parkNanos(pool, nanos);
        }
        state = UP;
        domainState.parkEnds();
    }

    /** Marks this worker as one to be woken; whether it may sleep now, because nothing was there before. */
    boolean laysDown() {
        state = PARKED;
        return !mayTakeSomething();
    }

    private boolean mayTakeSomething() {
        if (pool.isTerminated() || waiting() > 0) {
            return true;
        }
        for (int i = 0; i < stealOrder.ungated(); i++) {
            if (pool.waiting(stealOrder.ungated(i)) > 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether the worker sleeps or is about to. Any thread. */
    boolean isParked() {
        return state == PARKED;
    }

    /** Wakes the worker if it sleeps; true if this call did. Any thread. */
    boolean wake() {
        if (state == PARKED && STATE.compareAndSet(this, PARKED, UP)) {
            LockSupport.unpark(thread);
            return true;
        }
        return false;
    }

    /** Tasks in both rings. Any thread. */
    int waiting() {
        return interactive.waiting() + batch.waiting();
    }

    /** Tasks in both rings and the one that runs. Any thread. */
    int load() {
        return waiting() + (progress.current == null ? 0 : 1);
    }

    boolean isOf(WorkerPool other) {
        return pool == other;
    }

    boolean isRunning() {
        return progress.current != null;
    }

    Ring ring(Priority priority) {
        return priority == Priority.INTERACTIVE ? interactive : batch;
    }

    @Nullable
    PinResult pin() {
        return pin;
    }

    @Nullable
    WorkerThread thread() {
        return thread;
    }

    /** Fails the task that runs, and those in whose midst it does. Any thread. */
    void failRunning(Throwable cause) {
        for (Run run = progress.current; run != null; run = run.outer) {
            run.task().fail(cause);
        }
    }

    /** Runs a task taken from a ring, unless someone who waits for it has claimed it. This worker's thread only. */
    private void execute(Task task) {
        if (waiting() > 0) {
            // Whoever put these may have found this worker on its way to a task that it had stolen.
            pool.wakeHelper(this);
        }
        pool.wakeOverlooked(domain);
        if (task.claim()) {
            runClaimed(task);
        }
    }

    /** Runs a task that this worker's thread is about to wait for. */
    void runIfUnclaimed(Task task) {
        if (task.claim()) {
            runClaimed(task);
        }
    }

    private void runClaimed(Task task) {
        Run outer = progress.current;
        // A task that begins where another ended shares the reading of the clock with it; not one with a deadline:
        // what follows the other's future has run in between.
        boolean shares = outer == null && progress.endOfLast != 0 && task.deadlineNanos() == Task.NO_DEADLINE;
        long start = shares ? progress.endOfLast : System.nanoTime();
        Run run = new Run(task, start, outer);
        CURRENT.setRelease(progress, run);
        try {
            Throwable failure = pool.failure();
            if (failure == null) {
                task.run(run);
            } else {
                run.finished(Outcome.FAILED);
                task.fail(failure);
            }
        } catch (Throwable unexpected) {
            // Tasks catch what user code throws, so this thread is lost; the future must not be.
            run.finished(Outcome.FAILED);
            task.fail(unexpected);
            throw unexpected;
        } finally {
            CURRENT.setRelease(progress, outer);
            if (outer == null) {
                // What user code left behind must not keep this worker from sleeping.
                Thread.interrupted();
            }
            task.epoch().exit(index, 1);
        }
    }

    /** Fails what waits in the rings. Any thread. */
    void failWaiting(Throwable cause) {
        for (Task task = pollAsThief(true); task != null; task = pollAsThief(true)) {
            if (task.claim()) {
                pool.failedWaiting();
                task.fail(cause);
                task.epoch().exit(index, 1);
            }
        }
    }

    /** Runs queued tasks until a future is done that is not a task itself, or the time is up. */
    void helpUntilDone(Future<?> future, long untilNanos) {
        while (!future.isDone() && !Thread.currentThread().isInterrupted()) {
            Task task = next();
            for (int victim = 0; task == null && victim < pool.workers(); victim++) {
                task = pool.worker(victim).pollAsThief(!progress.givesWay);
            }
            if (task != null) {
                execute(task);
            } else if (untilNanos != Task.NO_DEADLINE && System.nanoTime() - untilNanos >= 0) {
                return;
            } else {
                LockSupport.parkNanos(future, HELP_PAUSE_NANOS);
            }
        }
    }

    /**
     * In the middle of a batch task, lets go first what waits: interactive tasks, here or where this worker may steal at
     * any time, and now and then the other threads of the core. A busy core is given to a thread that wakes up only at the
     * next tick of the operating system's clock, up to 4 ms later on Linux; were the thread a caller, all that it would have
     * submitted meanwhile would come at once. Nothing else of batch work runs in between: it may be of the kind that is
     * being interrupted.
     */
    void giveWay() {
        if (progress.givesWay) {
            return;
        }
        batchSlice.begin();
        boolean ran = runInteractive();
        long left = System.nanoTime();
        if (left - progress.yieldsAt >= 0) {
            Thread.yield();
            progress.yieldsAt = nextYield(left, System.nanoTime());
            if (!ran) {
                runInteractive();
            }
        }
    }

    /**
     * When to leave the core again, after it was left at one moment and back at another: only when the work has gone on for
     * four times as long. A core that other threads want to compute on comes back after a slice of theirs, of milliseconds:
     * work that left it every 50 us all the same would hardly go on at all.
     */
    static long nextYield(long leftNanos, long backNanos) {
        return backNanos + Math.max(YIELD_NANOS, WORK_PER_YIELD * (backNanos - leftNanos));
    }

    /**
     * Runs interactive tasks that wait; false if there were none. If as many have run as may go before a batch task, that
     * goes on for as long as one of them took before any goes first again.
     */
    private boolean runInteractive() {
        if (!interactiveTaskWaits()) {
            return false;
        }
        long began = System.nanoTime();
        if (began - progress.undisturbedUntil < 0) {
            return false;
        }
        progress.givesWay = true;
        int ran = 0;
        try {
            for (Task task = next(); task != null; task = ran < INTERACTIVE_PER_BATCH ? next() : null) {
                execute(task);
                ran++;
            }
            if (ran == INTERACTIVE_PER_BATCH) {
                long end = System.nanoTime();
                progress.undisturbedUntil = end + (end - began) / INTERACTIVE_PER_BATCH;
            }
        } finally {
            progress.givesWay = false;
        }
        return ran > 0;
    }

    private boolean interactiveTaskWaits() {
        boolean waits = interactive.waiting() > 0;
        for (int i = 0; !waits && i < stealOrder.ungated(); i++) {
            waits = pool.worker(stealOrder.ungated(i)).interactive.waiting() > 0;
        }
        return waits;
    }

    /** The other workers, as this one sees them when it is a thief. */
    private final class OtherWorkers implements Stealing.Victims<Task> {
        @Override
        public int waiting(int worker) {
            return pool.waiting(worker);
        }

        @Override
        public boolean gateOpens(int victim) {
            return pool.gateOpens(domain, victim);
        }

        @Override
        public @Nullable Task take(int victim) {
            return stealFrom(victim);
        }
    }

    /** What the worker writes with every task: on cache lines of its own, away from what submitters read. */
    @SuppressWarnings("unused")
    private static final class Progress extends CacheLinePadding {
        /** Written by the worker alone; the run of the innermost task. */
        private volatile @Nullable Run current;
        /** Interactive tasks since the last batch task; the worker's own. */
        private int interactiveSinceBatch;
        /** Whether a batch task has been interrupted for interactive ones; the worker's own. */
        private boolean givesWay;
        /** Until when the batch task that runs gives way to nobody; the worker's own. */
        private long undisturbedUntil = System.nanoTime();
        /** When batch work next lets other threads have the core; the worker's own. */
        private long yieldsAt = System.nanoTime();
        /** When the last task ended, 0 when the worker has looked around since; the worker's own. */
        private long endOfLast;

        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;
    }

    /** The context of one run on this worker. */
    private final class Run extends TaskContext {
        /** Of the task in whose midst this one runs. */
        private final @Nullable Run outer;

        private boolean booked;

        Run(Task task, long startNanos, @Nullable Run outer) {
            super(task, startNanos);
            this.outer = outer;
        }

        @Override
        public int worker() {
            return index;
        }

        @Override
        public int domain() {
            return domain;
        }

        @Override
        public void finished(Outcome outcome) {
            if (booked) {
                return;
            }
            booked = true;
            long end = System.nanoTime();
            progress.endOfLast = end;
            long submitted = task().submittedNanos();
            if (submitted != Task.NOT_TIMED) {
                counters.add(Counter.WAITS_TIMED, 1);
                counters.add(Counter.WAIT_NANOS, Math.max(0, startNanos() - submitted));
            }
            counters.add(Counter.RUNS_TIMED, 1);
            counters.add(Counter.RUN_NANOS, end - startNanos());
            counters.add(WorkerPool.counterOf(outcome), 1);
            if (touchedAnything()) {
                pool.monitor().add(domain, task().slot(), bytes());
            }
            pool.ran(task(), index, end - startNanos());
        }
    }
}
