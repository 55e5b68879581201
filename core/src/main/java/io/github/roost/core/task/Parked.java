package io.github.roost.core.task;

import io.github.roost.core.spi.Pending;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A parked task, which waits for bytes. It resumes once: when its {@link Pending} completes, its deadline passes, or its request
 * is done; a compare-and-set decides which event comes first. The winning thread puts the task into the resumed list of the
 * worker that it parked at. Until then this object owns the task.
 */
public final class Parked implements Pending.Waiter {
    private static final VarHandle TASK;

    static {
        try {
            TASK = MethodHandles.lookup().findVarHandle(Parked.class, "task", Task.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** What tasks park at: a worker, which runs them when they resume. Any thread. */
    public interface Place {
        /** The tasks that are parked here. */
        Set<Parked> parked();

        /** The parts and groups that are parked anywhere. */
        ParkedParts parkedParts();

        /** Queues a task that has resumed. */
        void resume(Task task);

        /** Called when a task waits that may have a deadline. */
        void watchDeadlineOf(Task task);

        /** Whether all tasks fail, also those that are parked. */
        boolean isFailing();
    }

    private final Place place;
    private final Pending pending;
    /** Null once the task resumes, so that a pending that completes late does not retain it. */
    private volatile @Nullable Task task;

    private Parked(Place place, Task task, Pending pending) {
        this.place = place;
        this.task = task;
        this.pending = pending;
    }

    /**
     * Parks a task. Called by its owner, which loses ownership: the task may resume on another thread before this returns. If this
     * throws, the owner keeps the task, and it is not parked.
     *
     * <p>The task is in the set of its place before it can be resumed through the pending. A request that ends, or a pool that fails, before that is
     * seen by the check after.
     */
    public static void park(Place place, Task task, Pending pending) {
        Parked parked = new Parked(place, task, pending);
        Stepper stepper = (Stepper) task;
        place.parked().add(parked);
        try {
            stepper.parked(parked);
            stepper.forEachRequest(request -> place.parkedParts().add(request, parked));
            if (!pending.await(parked) || parked.isUnneeded()) {
                parked.resume();
            } else {
                place.watchDeadlineOf(task);
            }
        } catch (RuntimeException | Error error) {
            if (TASK.compareAndSet(parked, task, null)) {
                parked.forget(stepper);
                throw error;
            }
        }
    }

    /** The task, or null if it has resumed. Any thread. */
    @Nullable
    public Task task() {
        return task;
    }

    private boolean isUnneeded() {
        Task waiting = task;
        return waiting != null && (waiting.isUnneeded() || place.isFailing());
    }

    /** Resumes the task if its request, or all of its group, are done; it then ends in its next slice. Any thread. */
    void resumeIfUnneeded() {
        Task waiting = task;
        if (waiting != null && waiting.isUnneeded()) {
            resume();
        }
    }

    /** Resumes the task unless it has resumed already. Any thread. */
    @Override
    public void resume() {
        Task waiting = task;
        if (waiting != null && TASK.compareAndSet(this, waiting, null)) {
            forget((Stepper) waiting);
            place.resume(waiting);
        }
    }

    private void forget(Stepper waited) {
        place.parked().remove(this);
        waited.forEachRequest(request -> place.parkedParts().remove(request, this));
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
