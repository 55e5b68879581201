package io.github.roost.core.pool;

import io.github.roost.core.placement.Epoch;
import io.github.roost.core.spi.TableUse;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The end of a task: it is counted out of its epoch and its table, and the tasks that continue after it are handed over; a task
 * that cannot run is failed first. What an error prevents is done later, by the task's worker or by {@link Watch}, so that no task
 * stays unanswered and no epoch stays open. Thread-safe.
 */
final class TaskCompletion {
    private final WorkerPool pool;
    // Not a LongAdder, which allocates when two threads add at once: memory may be out here.
    private final AtomicLong failedWaiting = new AtomicLong();
    /** An epoch that could not be retired, together with earlier ones, because memory was out. */
    private volatile @Nullable Epoch unretired;
    /** The use of a table that could not be ended, if its last user has left, because memory was out. */
    private volatile @Nullable TableUse pending;

    TaskCompletion(WorkerPool pool) {
        this.pool = pool;
    }

    /** The number of tasks failed outside of a slice, by close or after an error of a worker. */
    long failedWaiting() {
        return failedWaiting.get();
    }

    /**
     * Fails a task that the caller owns, counts it out, and hands over the tasks that continue after it. If it cannot be failed
     * because memory is out, it waits in a list of the worker until it can.
     */
    void failOwned(Task task, Worker worker, Throwable cause) {
        if (task.countsAsTask()) {
            failedWaiting.incrementAndGet();
        }
        failBooked(task, worker, cause);
    }

    /** As {@link #failOwned}, if the failure has been counted already. */
    void failBooked(Task task, Worker worker, Throwable cause) {
        try {
            Faults.point();
            task.fail(cause);
        } catch (Throwable again) {
            worker.incomplete.add(task);
            return;
        }
        finish(task, worker, worker.resume);
    }

    /** Called when a task has ended: counts it out, and hands over the tasks that continue after it. */
    void finish(Task task, Worker worker, Consumer<Task> goesOn) {
        countOut(task.epoch(), worker);
        leave(task.use(), worker.index);
        try {
            Faults.point();
            task.deliver(goesOn);
        } catch (OutOfMemoryError | StackOverflowError error) {
            task.deliver(worker.resume);
        }
    }

    /** Counts a task out of its epoch; if memory is out and the epoch cannot be retired, {@link Watch} retires it later. */
    private void countOut(Epoch epoch, Worker worker) {
        try {
            epoch.exit(worker.index, 1);
        } catch (OutOfMemoryError | StackOverflowError error) {
            unretired = epoch;
            pool.armWatch();
        }
    }

    /** Counts a task out as a user of its table; if memory is out and the use cannot be ended, {@link Watch} ends it later. */
    void leave(@Nullable TableUse use, long lane) {
        if (use == null) {
            return;
        }
        try {
            use.exit(lane);
        } catch (OutOfMemoryError | StackOverflowError error) {
            pending = use;
            pool.armWatch();
        }
    }

    /** Does what errors have prevented: retires epochs and ends uses of tables. */
    void catchUp() {
        Epoch epoch = unretired;
        if (epoch != null) {
            unretired = null;
            epoch.retireAgain();
        }
        TableUse use = pending;
        if (use != null) {
            pending = null;
            use.endIfUnused();
        }
    }

    /** Fails the tasks that could not be failed before. */
    void answerAgain(Worker worker) {
        for (int left = worker.incomplete.size(); left > 0; left--) {
            Task task = worker.incomplete.poll();
            if (task != null) {
                failBooked(task, worker, new OutOfMemoryError("there was no memory to tell the search of its failure"));
            }
        }
    }
}
