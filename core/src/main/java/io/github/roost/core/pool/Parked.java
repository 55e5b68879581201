package io.github.roost.core.pool;

import io.github.roost.core.spi.Pending;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A parked task, which waits for bytes. It resumes once: when its {@link Pending} completes, its deadline passes, or its request
 * is done; a compare-and-set decides which event comes first. The winning thread puts the task into the resumed list of the
 * worker that it parked on. Until then this object owns the task.
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
    /** Read under the lock of the worker's {@link ParkedTasks}; written only while not in it. */
    private long deadlineNanos;
    /** Null once the task resumes, so that a pending that completes late does not retain it. */
    private volatile @Nullable Task task;
    /** Links of the list in {@link ParkedTasks}; guarded by it. */
    @Nullable
    Parked before;

    @Nullable
    Parked after;

    /** Index in the heap of deadlines, -1 for none; guarded by the worker's {@link ParkedTasks}. */
    int place = -1;

    Parked(Worker worker, Task task, Pending pending) {
        this.worker = worker;
        this.task = task;
        this.pending = pending;
        this.deadlineNanos = task.parkedDeadlineNanos();
    }

    /**
     * Parks a task. Called by its owner, which loses ownership: the task may resume on another thread before this returns. If this
     * throws, the owner keeps the task, and it is not parked.
     *
     * <p>Once {@link Task#parked(Parked)} is set, other threads may resume the task. Therefore {@link ParkedTasks#add} checks under
     * its lock that the task still waits, and a thread that resumes the task first clears {@link #task} and then removes it.
     */
    static void park(Worker worker, Task task, Pending pending) {
        Parked parked = new Parked(worker, task, pending);
        try {
            task.parked(parked);
            worker.parked.add(parked);
            if (!pending.await(parked) || parked.isUnneeded()) {
                parked.resume();
            }
        } catch (Throwable error) {
            if (parked.withdraw()) {
                throw error;
            }
        }
    }

    /** Returns ownership of the task to the caller; false if it has resumed already. */
    private boolean withdraw() {
        Task waiting = task;
        boolean won = waiting != null && TASK.compareAndSet(this, waiting, null);
        worker.parked.remove(this);
        return won;
    }

    /** Whether the task still waits. */
    boolean waits() {
        return task != null;
    }

    private boolean isUnneeded() {
        Task waiting = task;
        return waiting != null && (waiting.isUnneeded() || worker.isFailing());
    }

    /** From now on, when the request of {@code owner} completes, the task resumes if it is parked and unneeded. */
    static void resumeWhenUnneeded(Stepper owner, Task task) {
        Stepper one = owner;
        while (one instanceof PartTask part) {
            one = part.owner();
        }
        if (one instanceof Request<?, ?> request) {
            var _ = request.whenComplete((result, failure) -> abandon(task));
        }
    }

    /** Resumes a task if it is parked and unneeded; it then ends in its next slice. Any thread. */
    private static void abandon(Task task) {
        Parked parked = task.parked();
        if (parked != null && task.isUnneeded()) {
            parked.resume();
        }
    }

    /** Resumes the task unless it has resumed already. Any thread. */
    @Override
    public void resume() {
        Task waiting = task;
        if (waiting != null && TASK.compareAndSet(this, waiting, null)) {
            worker.parked.remove(this);
            worker.resume(waiting);
        }
    }

    /** Called when the deadline has passed: resumes the task, or only ends its expired queries while the rest stays parked. */
    void late(long now) {
        Task waiting = task;
        if (waiting == null || !TASK.compareAndSet(this, waiting, null)) {
            return;
        }
        // This thread owns the task now, so a completion or cancellation does not resume it; both are checked below.
        worker.parked.remove(this);
        try {
            Faults.point();
            if (!waiting.staysParked(now)) {
                worker.resume(waiting);
                return;
            }
        } catch (OutOfMemoryError | StackOverflowError error) {
            worker.resume(waiting);
            return;
        }
        deadlineNanos = waiting.parkedDeadlineNanos();
        task = waiting;
        try {
            worker.parked.add(this);
            if (pending.ready() || isUnneeded()) {
                resume();
            }
        } catch (OutOfMemoryError | StackOverflowError error) {
            resume();
        }
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    /** The failure that the pending completed with, or null. */
    @Nullable
    Throwable failure() {
        return pending.failure();
    }

    /** The name of what the task waited for in vain, or null if that has arrived or has no name. */
    @Nullable
    String awaited() {
        return pending.awaited();
    }
}
