package io.github.roost.core.pool;

import io.github.roost.core.task.Pending;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A task that waits for bytes. It goes on once: when its {@link Pending} is completed, when its deadline passes, or when its
 * request is over, whichever is first to win a compare-and-set. Who wins puts the task into the list of the worker it ran
 * on; before that nobody owns it but this.
 */
final class Parked implements Pending.Waiter {
    private static final VarHandle TASK;

    static {
        try {
            TASK = MethodHandles.lookup().findVarHandle(Parked.class, "task", Task.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Worker worker;
    private final Pending pending;
    /** Guarded by the worker's {@link ParkedTasks}. */
    private long deadlineNanos;
    /** Null once it goes on: a pending that is completed late keeps nothing of the task. */
    private volatile @Nullable Task task;
    /** Guarded by the worker's {@link ParkedTasks}. */
    @Nullable
    Parked before;

    @Nullable
    Parked after;

    /** Place among those with a deadline, -1 for none; guarded as well. */
    int place = -1;

    Parked(Worker worker, Task task, Pending pending) {
        this.worker = worker;
        this.task = task;
        this.pending = pending;
        this.deadlineNanos = task.parkedDeadlineNanos();
    }

    /**
     * Has a task wait; called by its owner, who no longer is when this returns: the task may go on elsewhere before. What
     * throws leaves the task with its owner, and nothing of this behind.
     *
     * <p>From the moment that the task knows what it waits for, others may have it go on. So who adds it to the parked ones
     * looks, under their lock, whether it still waits, and who has it go on removes it after it has said so.
     */
    static void park(Worker worker, Task task, Pending pending) {
        Parked parked = new Parked(worker, task, pending);
        try {
            task.parked(parked);
            worker.parked.add(parked);
            if (!pending.await(parked) || parked.isOver()) {
                parked.goOn();
            }
        } catch (Throwable struck) {
            if (parked.withdraw()) {
                throw struck;
            }
        }
    }

    /** Makes the task the caller's again; false where it goes on already. */
    private boolean withdraw() {
        Task waiting = task;
        boolean won = waiting != null && TASK.compareAndSet(this, waiting, null);
        worker.parked.remove(this);
        return won;
    }

    /** Whether it still waits. */
    boolean waits() {
        return task != null;
    }

    private boolean isOver() {
        Task waiting = task;
        return waiting != null && (waiting.over() || worker.isFailing());
    }

    @Override
    public void resume() {
        goOn();
    }

    /** From now on a parked task goes on as soon as it is over, with a request of those that wait for it. */
    static void whenOver(Stepper owner, Task task) {
        Stepper one = owner;
        while (one instanceof PartTask part) {
            one = part.owner();
        }
        if (one instanceof Request<?, ?> request) {
            var _ = request.whenComplete((result, failure) -> abandon(task));
        }
    }

    /** Has a task go on that is over, if it is parked; it then finds that out and ends. Any thread. */
    private static void abandon(Task task) {
        Parked parked = task.parked();
        if (parked != null && task.over()) {
            parked.goOn();
        }
    }

    /** Has the task go on, unless it does already. Any thread. */
    void goOn() {
        Task waiting = task;
        if (waiting != null && TASK.compareAndSet(this, waiting, null)) {
            worker.parked.remove(this);
            worker.resume(waiting);
        }
    }

    /** Its deadline has passed: it goes on and finds that out, or part of it is over and the rest waits on. */
    void late(long now) {
        Task waiting = task;
        if (waiting == null || !TASK.compareAndSet(this, waiting, null)) {
            return;
        }
        // Owned here, so neither a completion nor a cancellation has the task go on; both are looked for afterwards.
        worker.parked.remove(this);
        try {
            Faults.point();
            if (!waiting.staysParked(now)) {
                worker.resume(waiting);
                return;
            }
        } catch (OutOfMemoryError | StackOverflowError struck) {
            worker.resume(waiting);
            return;
        }
        deadlineNanos = waiting.parkedDeadlineNanos();
        task = waiting;
        try {
            worker.parked.add(this);
            if (pending.ready() || isOver()) {
                goOn();
            }
        } catch (OutOfMemoryError | StackOverflowError struck) {
            goOn();
        }
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /** What the wait ended with, if that was a failure. */
    @Nullable
    Throwable failure() {
        return pending.failure();
    }
}
