package io.github.roost.core.pool;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.task.GroupTask;
import io.github.roost.core.task.Parked;
import io.github.roost.core.task.Stepper;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.Task.Outcome;
import io.github.roost.core.task.TaskQueue;
import java.util.function.Predicate;

/**
 * Ends searches that wait in queues, or are parked, and whose deadline has passed, and takes tasks whose result is not needed out
 * of the queues, so that they hold no place there. Answers are delivered in virtual threads, since callbacks may block. Thread-safe.
 */
final class Overdue {
    private final WorkerPool pool;

    Overdue(WorkerPool pool) {
        this.pool = pool;
    }

    /** Ends what is overdue now; whether a search with a deadline, or a submitter, is left that waits. */
    boolean end() {
        long now = System.nanoTime();
        boolean left = pool.anyRoomAwaited();
        for (int i = 0; i < pool.workers(); i++) {
            Worker worker = pool.worker(i);
            for (TaskQueue queue : worker.queues) {
                left |= end(worker, queue, now);
            }
            for (Parked parked : worker.parked) {
                left |= end(parked, now);
            }
        }
        return left;
    }

    private boolean end(Worker worker, TaskQueue queue, long now) {
        if (!queue.hasTasks()) {
            return false;
        }
        Unwanted unwanted = new Unwanted(now);
        queue.removeIf(unwanted, task -> {
            pool.room(worker, task.priority()).made();
            if (task instanceof GroupTask group) {
                end(worker, group);
            } else if (task.isUnneeded()) {
                pool.endElsewhere(task, worker, Outcome.CANCELLED);
            } else {
                fail(task, worker, now);
            }
        });
        return unwanted.timed;
    }

    /** Ends a group none of whose queries is to be answered; if one has joined meanwhile, the group waits on. */
    private void end(Worker worker, GroupTask group) {
        if (group.takeUnneeded()) {
            pool.endElsewhere(group, worker, Outcome.CANCELLED);
        } else {
            worker.resumeLater(group);
        }
    }

    private void fail(Task task, Worker worker, long now) {
        DeadlineExceededException late = new DeadlineExceededException(now - task.deadlineNanos());
        pool.deliver(() -> {
            // Counted first: who sees the failure also sees it counted.
            pool.countElsewhere(task, Outcome.EXPIRED);
            pool.failBooked(task, worker, late);
        });
    }

    /** Ends a parked search if it is overdue, which resumes it; whether it has a deadline. */
    private boolean end(Parked parked, long now) {
        Task task = parked.task();
        if (task instanceof GroupTask group) {
            return group.endOverdue(now, pool::deliver);
        }
        if (task == null || task.deadlineNanos() == Task.NO_DEADLINE) {
            return false;
        }
        if (task.expired(now) && !task.isUnneeded() && task instanceof Stepper stepper) {
            pool.deliver(() -> stepper.failRequest(Stepper.late(stepper, now - task.deadlineNanos())));
        }
        return true;
    }

    /** Takes the tasks of a worker's queue whose result is not needed out of it. */
    void sweep(Worker worker, TaskQueue queue) {
        end(worker, queue, System.nanoTime());
    }

    /** Finds the tasks to remove, and whether any task with a deadline waits. */
    private final class Unwanted implements Predicate<Task> {
        private final long now;
        private boolean timed;

        Unwanted(long now) {
            this.now = now;
        }

        @Override
        public boolean test(Task task) {
            if (task instanceof GroupTask group) {
                timed |= group.endOverdue(now, pool::deliver);
                return group.wasUnneeded();
            }
            timed |= task.deadlineNanos() != Task.NO_DEADLINE;
            return task.isUnneeded() || task.expired(now);
        }
    }
}
