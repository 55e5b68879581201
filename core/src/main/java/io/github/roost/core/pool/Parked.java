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

    /** Has the owner of a task that is to park wait; the task may go on elsewhere before this returns. */
    void begin() {
        if (!pending.await(this) || isAbandoned()) {
            goOn();
        }
    }

    private boolean isAbandoned() {
        Task waiting = task;
        return waiting != null && (waiting.abandoned() || worker.isFailing());
    }

    @Override
    public void resume() {
        goOn();
    }

    /** Has a task go on whose request is over, if it is parked; it then finds that out and ends. Any thread. */
    static void abandon(Task task) {
        Parked parked = task.parked();
        if (parked != null) {
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
        boolean stays = false;
        try {
            stays = waiting.staysParked(now);
            if (stays) {
                deadlineNanos = waiting.parkedDeadlineNanos();
                worker.parked.add(this);
            }
        } catch (OutOfMemoryError e) {
            stays = false;
        }
        if (!stays) {
            worker.resume(waiting);
            return;
        }
        task = waiting;
        if (pending.ready() || isAbandoned()) {
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
