package io.github.roost.core.pool;

import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.spi.Step;
import io.github.roost.core.task.CacheLinePadding;
import io.github.roost.core.task.Parked;
import io.github.roost.core.task.Stepper;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.Task.After;
import io.github.roost.core.task.Task.Outcome;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs slices in a runner's thread, or nested in another slice there, and settles the task after each: it has ended, or it yields,
 * parks or forks. A slice that throws fails its task. Used only by the runner's thread, except where it says any thread.
 */
@SuppressWarnings("unused") // padding
final class Slices extends CacheLinePadding {
    /** One over the weight of a new task in the running mean of task times. */
    private static final int TASKS_PER_MEAN = 8;
    /** The clock is read for every task if tasks take longer than this on average, else for one in eight. */
    private static final long ALL_TIMED_NANOS = 1_000;

    private static final VarHandle CURRENT;
    private static final VarHandle COUNT;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            CURRENT = lookup.findVarHandle(Slices.class, "current", Frame.class);
            COUNT = lookup.findVarHandle(Slices.class, "begun", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Written with every task, and so between padding.
    /** The frame of the innermost slice. */
    private volatile @Nullable Frame current;
    /** Slices begun. */
    private long begun;
    /** Number of nested slices that have submitted tasks or wait; written by the runner's thread. */
    private volatile int mayBlock;
    /** When the last task ended; 0 if that is not known. */
    private long endOfLast;
    /** Running mean of task times. */
    private long meanNanos;
    /** The task that continues in this thread after the running slice is settled. */
    private @Nullable Task following;

    private final Runner runner;
    private final Worker worker;
    private final WorkerPool pool;
    private final MaintenanceTurns maintenance;
    private final WorkerCounters counters;
    private final Frame bottom;
    private final Consumer<Task> follow = this::follow;
    private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;

    Slices(Runner runner, WorkerPool pool, MaintenanceTurns maintenance, WorkerCounters counters) {
        this.runner = runner;
        this.worker = runner.worker();
        this.pool = pool;
        this.maintenance = maintenance;
        this.counters = counters;
        this.bottom = new Frame(null, worker, maintenance, this);
    }

    // ---- What runs.

    /** The frame of the innermost slice, or null if none runs. Any thread. */
    @Nullable
    Frame current() {
        return current;
    }

    /** The number of slices begun: if it is equal at two looks, the same slice still runs. Any thread. */
    long begun() {
        return (long) COUNT.getOpaque(this);
    }

    /** Whether a running slice, or one that it is nested in, has submitted tasks or waits. Any thread. */
    boolean mayBlock() {
        return mayBlock > 0;
    }

    void countMayBlock(int by) {
        int before = mayBlock;
        mayBlock = before + by;
    }

    /** Fails the task that runs and the tasks that it is nested in. Any thread. */
    void failRunning(Throwable cause) {
        for (Frame frame = current; frame != null; frame = frame.outer()) {
            frame.fail(cause);
        }
    }

    /** When the last task ended; 0 if that is not known. */
    long endOfLast() {
        return endOfLast;
    }

    void idleBegins() {
        endOfLast = 0;
    }

    // ---- Running.

    /** Runs a task that this thread owns, and the tasks that continue in this thread after it. */
    void run(Task task) {
        Worker victim = runner.takenFrom();
        Task next = task;
        while (next != null) {
            runSlice(bottom, next, victim);
            victim = null;
            next = following;
            following = null;
            if (next != null && !(runner.goesOn() && runner.mayFollow(next))) {
                worker.resume(next);
                next = null;
            }
        }
    }

    /** Runs a slice of a task that this thread owns, nested in the running slice. */
    void runNested(Task task) {
        Frame outer = current;
        if (outer == null) {
            run(task);
            return;
        }
        long begin = System.nanoTime();
        boolean interrupted = Thread.interrupted();
        try {
            runSlice(outer.inner(), task, runner.takenFrom());
        } catch (Throwable unexpected) {
            // Not of the outer slice, which would fail with it.
            pool.breaks(unexpected);
            throw unexpected;
        }
        // An interrupt that the task leaves is not the outer slice's.
        Thread.interrupted();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        outer.nested(System.nanoTime() - begin);
    }

    private void runSlice(Frame frame, Task task, @Nullable Worker victim) {
        Frame outer = frame.outer();
        After after = After.ENDED;
        Throwable failed = null;
        frame.beginSlice(task, startNanos(task, outer), victim);
        CURRENT.setRelease(this, frame);
        COUNT.setOpaque(this, begun + 1);
        try {
            Throwable failure = pool.failure();
            if (failure == null) {
                if (victim != null) {
                    pool.crossSteal(worker, victim, task);
                }
                after = task.run(frame);
            } else {
                failed = failure;
            }
        } catch (Throwable thrown) {
            failed = thrown;
        }
        Step<?, ?> step = frame.step();
        if (failed != null) {
            frame.finished(Outcome.FAILED);
        } else if (after != After.ENDED) {
            continues(frame);
        }
        settleTime(task, frame);
        if (frame.endSlice()) {
            countMayBlock(-1);
        }
        CURRENT.setRelease(this, outer);
        if (outer == null) {
            // An interrupt left by user code must not keep this worker from sleeping.
            Thread.interrupted();
        }
        if (failed == null) {
            settle(task, after, step);
        } else {
            pool.failBooked(task, worker, failed);
        }
    }

    /**
     * The time at which a slice begins; 0 if it is not timed. A task that begins when another ended reuses its reading of the clock. A task
     * with a deadline does not, since continuations of the other task's future have run in between.
     */
    private long startNanos(Task task, @Nullable Frame outer) {
        if (!task.isTimed() && meanNanos < ALL_TIMED_NANOS && !maintenance.waits()) {
            endOfLast = 0;
            return 0;
        }
        boolean shares = outer == null && endOfLast != 0 && task.deadlineNanos() == Task.NO_DEADLINE;
        return shares ? endOfLast : System.nanoTime();
    }

    /** Settles a task after a slice: delivers, requeues, parks or forks it. */
    private void settle(Task task, After after, @Nullable Step<?, ?> step) {
        try {
            switch (after) {
                case ENDED -> pool.finish(task, runner, follow);
                case YIELDED -> worker.resumeLater(task);
                case PARKED -> Parked.park(worker, task, ((Step.Park<?, ?>) stepOf(step)).pending());
                case FORKED -> pool.dispatch().fork((Stepper) task, (Step.Fork<?, ?, ?, ?>) stepOf(step), follow);
            }
        } catch (RuntimeException | Error error) {
            if (after == After.ENDED || after == After.YIELDED) {
                throw error;
            }
            counters.add(Counter.FAILED, 1);
            pool.failBooked(task, worker, error);
            return;
        }
        if (after == After.PARKED) {
            maintenance.beginStall();
        }
    }

    private static Step<?, ?> stepOf(@Nullable Step<?, ?> step) {
        if (step == null) {
            throw new IllegalStateException("a slice that parks or forks must say how");
        }
        return step;
    }

    /** Continues a task: in this thread if no slice is running, else in the resumed queue, where other workers may take it. */
    private void follow(Task task) {
        if (following == null && current == null && !task.isMaintenance()) {
            following = task;
        } else {
            worker.resume(task);
        }
    }

    // ---- Counts and times.

    /** Books the last slice of a task, and the outcome of the task. */
    void book(Frame frame, Outcome outcome) {
        Task task = frame.task();
        // Its future completes next, and callbacks that wait must not run its children.
        frame.hideChildren();
        if (task.countsAsTask()) {
            counters.add(WorkerPool.counterOf(outcome), 1);
        }
        long start = frame.startNanos();
        if (start != 0) {
            long end = System.nanoTime();
            endOfLast = end;
            long nanos = Math.max(0, end - start - frame.nestedNanos());
            long submittedAt = task.submittedNanos();
            if (submittedAt != Task.NOT_TIMED) {
                counters.add(Counter.WAITS_TIMED, 1);
                counters.add(Counter.WAIT_NANOS, Math.max(0, start - submittedAt));
            }
            counters.add(Counter.RUN_NANOS, nanos);
            if (task.countsAsTask()) {
                counters.add(Counter.RUNS_TIMED, 1);
            }
            meanNanos += (nanos - meanNanos) / TASKS_PER_MEAN;
            worker.runsTasksOf(meanNanos);
            if (frame.outer() == null && frame.bytes() != 0) {
                pool.help().measured(worker, frame.victim, nanos, frame.bytes());
            }
            pool.ran(task, worker.index, nanos);
        }
        bookTraffic(frame);
    }

    /** Books a slice after which its task continues. */
    private void continues(Frame frame) {
        long end = System.nanoTime();
        endOfLast = end;
        if (frame.startNanos() != 0) {
            counters.add(Counter.RUN_NANOS, Math.max(0, end - frame.startNanos() - frame.nestedNanos()));
        }
        bookTraffic(frame);
    }

    private void settleTime(Task task, Frame frame) {
        if (frame.startNanos() != 0 && endOfLast != 0) {
            maintenance.ran(task, frame.startNanos(), endOfLast, frame.nestedNanos());
        }
        maintenance.settled(task);
    }

    private void bookTraffic(Frame frame) {
        if (!frame.touchedAnything()) {
            return;
        }
        Task task = frame.task();
        boolean first = task.countsAsSearch();
        if (runner.hasLane()) {
            pool.monitor().addOwn(worker.index, task.slot(), frame.bytes(), first ? 1 : 0);
        } else if (first) {
            pool.monitor().add(worker.domain, task.slot(), frame.bytes());
        } else {
            pool.monitor().addBytes(worker.domain, task.slot(), frame.bytes());
        }
    }
}
