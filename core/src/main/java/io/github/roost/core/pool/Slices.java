package io.github.roost.core.pool;

import io.github.roost.core.pool.Task.After;
import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.spi.Step;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs slices of the task in hand, in a runner's thread or nested in another slice there, and settles the task after each: it has
 * ended, or it yields, parks or forks. A task whose slice throws an error is failed. Used only by the runner's thread.
 */
final class Slices {
    private final Worker worker;
    private final WorkerPool pool;
    private final Wakeups wakeups;
    private final TaskCompletion completion;
    private final ShardState shard;
    private final TaskInHand hand;
    private final TaskChoice choice;
    private final MaintenanceTurns maintenance;
    private final Progress progress;
    private final TaskMetrics books;
    private final Frame bottom;
    /** Allocated once: delivery of a task must not allocate. */
    private final Consumer<Task> follow = this::follow;

    /** The task that continues in this thread after the running slice is settled. */
    private @Nullable Task following;

    Slices(
            Worker worker,
            WorkerPool pool,
            TaskInHand hand,
            TaskChoice choice,
            MaintenanceTurns maintenance,
            Progress progress,
            WorkerCounters counters) {
        this.worker = worker;
        this.pool = pool;
        this.wakeups = pool.wakeups();
        this.completion = pool.completion();
        this.shard = pool.shard(worker.shard);
        this.hand = hand;
        this.choice = choice;
        this.maintenance = maintenance;
        this.progress = progress;
        this.books = new TaskMetrics(worker, pool, progress, counters);
        this.bottom = new Frame(worker, progress, maintenance, books);
    }

    /** Runs the task in hand, and the tasks that continue in this thread after it. */
    void run() {
        while (hand.task() != null) {
            runSlice(innermost());
            Task then = following;
            following = null;
            hand.take(then, true);
        }
    }

    /** Runs a slice of the task in hand, nested in a slice: after an error no task may stay in hand. */
    void runNested() {
        try {
            runSlice(innermost());
        } catch (Throwable unexpected) {
            hand.fail(unexpected);
            throw unexpected;
        }
    }

    /** The frame of a slice that begins now. */
    private Frame innermost() {
        Frame current = progress.current();
        return current == null ? bottom : current.inner();
    }

    private void runSlice(Frame frame) {
        Task task = hand.task();
        if (task == null) {
            return;
        }
        Frame outer = frame.outer();
        boolean claimed = hand.isOwned();
        // A slice nested in this one must not be taken for the stolen task, nor end it.
        frame.stolenFrom(hand.clearStolen());
        After after = After.ENDED;
        Throwable unexpected = null;
        try {
            Faults.point();
            frame.beginSlice(task, startNanos(task, outer));
            // Set before the claim, which orders it before the check of waiting tasks: see Worker.
            progress.begins(frame);
            if (claimed) {
                VarHandle.fullFence();
            } else {
                claimed = task.claim();
            }
            if (claimed) {
                Faults.point();
                beforeSlice(frame, task);
                Throwable failure = pool.failure();
                if (failure == null) {
                    after = task.run(frame);
                } else {
                    frame.finished(Outcome.FAILED);
                    task.fail(failure);
                }
            }
        } catch (Throwable error) {
            unexpected = error;
            after = After.ENDED;
            // If the error came before the claim: the task is in no queue, so no other thread would run or fail it.
            claimed = claimed || task.claim();
        }
        hand.drop();
        frame.endsSubmitting();
        progress.endsTo(outer);
        if (outer == null) {
            // An interrupt left by user code must not keep this worker from sleeping.
            Thread.interrupted();
        }
        if (frame.stolenFrom() >= 0) {
            shard.crossingEnds();
        }
        if (claimed) {
            if (unexpected == null) {
                settle(task, frame, after);
            } else {
                fail(task, frame, unexpected);
            }
        }
        frame.stolenFrom(-1);
        frame.forget();
        maintenance.settled(task);
        if (unexpected != null) {
            pool.restarted(worker, unexpected);
        }
    }

    /**
     * The time at which a slice begins. A task that begins when another ended reuses its reading of the clock. A task with a deadline
     * does not, since continuations of the other task's future have run in between.
     */
    private long startNanos(Task task, @Nullable Frame outer) {
        long endOfLast = progress.endOfLast();
        boolean shares = outer == null && endOfLast != 0 && task.deadlineNanos() == Task.NO_DEADLINE;
        return shares ? endOfLast : System.nanoTime();
    }

    /** Wakes workers for the tasks that wait behind this slice, and notifies the listener of a task that has crossed. */
    private void beforeSlice(Frame frame, Task task) {
        wakeups.wakeFor(worker);
        if (frame.stolenFrom() >= 0) {
            wakeups.stole(worker, frame.stolenFrom());
            pool.crossSteal(worker.index, hand.victim(), task);
        }
    }

    private void fail(Task task, Frame frame, Throwable cause) {
        books.failed(frame);
        completion.failBooked(task, worker, cause);
    }

    /** Settles a task after a slice: delivers, requeues, parks or forks it. */
    private void settle(Task task, Frame frame, After after) {
        try {
            switch (after) {
                case ENDED -> {
                    bookMaintenance(task, frame);
                    completion.finish(task, worker, follow);
                }
                case YIELDED -> {
                    bookSlice(task, frame);
                    choice.yieldedHadTurn();
                    worker.resumeLater(task);
                }
                case PARKED -> {
                    bookSlice(task, frame);
                    park(task, frame);
                    maintenance.beginStall();
                }
                case FORKED -> {
                    bookSlice(task, frame);
                    fork(task, frame);
                }
            }
        } catch (Throwable error) {
            if (after == After.ENDED) {
                // The task has been counted out, so there is nothing left to fail.
                throw error;
            }
            fail(task, frame, error);
        }
    }

    /** Books a slice after which its task continues. */
    private void bookSlice(Task task, Frame frame) {
        books.continues(frame);
        bookMaintenance(task, frame);
    }

    private void bookMaintenance(Task task, Frame frame) {
        maintenance.ran(task, frame.startNanos(), progress.endOfLast());
    }

    private void park(Task task, Frame frame) {
        Faults.point();
        Parked.park(worker, task, ((Step.Park<?, ?>) step(frame)).pending());
    }

    private void fork(Task task, Frame frame) {
        Faults.point();
        pool.dispatch().fork((Stepper) task, (Step.Fork<?, ?, ?, ?>) step(frame), follow);
    }

    private static Step<?, ?> step(Frame frame) {
        Step<?, ?> step = frame.step();
        if (step == null) {
            throw new IllegalStateException("a slice that parks or forks must say how");
        }
        return step;
    }

    /** Continues a task: in this thread if no slice is running, else in the resumed list, where other workers may take it. */
    private void follow(Task task) {
        if (following == null && progress.current() == null && !task.isMaintenance()) {
            following = task;
        } else {
            worker.resume(task);
        }
    }
}
