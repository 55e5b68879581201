package io.github.roost.core.pool;

import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.spi.Step;
import io.github.roost.core.task.Parked;
import io.github.roost.core.task.Stepper;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.Task.After;
import io.github.roost.core.task.Task.Outcome;
import io.github.roost.core.task.TaskContext;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks in their submitters' threads when the queues are full. A task that parks resumes on a worker of its home.
 * Thread-safe.
 */
public final class CallerRunner {
    /** The innermost task that the thread runs and has submitted. */
    private static final ThreadLocal<CallerContext> RUNNING = new ThreadLocal<>();

    private final WorkerPool pool;
    private final TrafficMonitor monitor;

    public CallerRunner(WorkerPool pool, TrafficMonitor monitor) {
        this.pool = pool;
        this.monitor = monitor;
    }

    /** Whether the calling thread runs a task that it has submitted. */
    public static boolean isRunning() {
        return RUNNING.get() != null;
    }

    /** Whether the calling thread runs a task of a pool that it has submitted. */
    public static boolean isRunningIn(WorkerPool pool) {
        for (CallerContext context = RUNNING.get(); context != null; context = context.outer) {
            if (context.pool == pool) {
                return true;
            }
        }
        return false;
    }

    /**
     * Checks that a task may run here with the stack that is left.
     *
     * @throws StackOverflowError if little is left
     */
    public static void requireStack() {
        StackRoom.require();
    }

    /** Runs a task that the caller owns, until it has ended or continues on a worker. */
    public void run(Task task) {
        Worker home =
                pool.worker(pool.dispatch().worker(task.slot(), task.epoch().mapping()));
        CallerContext outer = RUNNING.get();
        CallerContext context = new CallerContext(pool, monitor, outer);
        After after = After.YIELDED;
        RUNNING.set(context);
        // Before it looks whether all tasks fail: so either it does, or the thread that fails them sees this one.
        pool.inCallers().add(task);
        // A wait of this task must not run children of the search that it runs inside.
        Frame around = Thread.currentThread() instanceof WorkerThread thread
                ? thread.runner().slices().current()
                : null;
        int children = around == null ? 0 : around.hideChildren();
        try {
            Throwable cause = pool.failure();
            if (cause != null) {
                task.failRunning(cause);
            }
            while (after == After.YIELDED) {
                context.begin(task, System.nanoTime());
                after = task.run(context);
                context.bookTraffic();
            }
            switch (after) {
                case PARKED -> Parked.park(home, task, ((Step.Park<?, ?>) context.left()).pending());
                case FORKED ->
                    pool.dispatch().fork((Stepper) task, (Step.Fork<?, ?, ?, ?>) context.left(), home.resume);
                default -> {}
            }
        } catch (Throwable failure) {
            // Not thrown by user code: that is the outcome of a future.
            context.finished(Outcome.FAILED);
            pool.failBooked(task, home, failure);
            return;
        } finally {
            if (around != null) {
                around.showChildren(children);
            }
            pool.inCallers().remove(task);
            if (outer == null) {
                RUNNING.remove();
            } else {
                RUNNING.set(outer);
            }
        }
        if (after == After.ENDED) {
            // Continuations may wait for other continuations of this task, so they do not run nested in its delivery.
            pool.finish(task, home.resume);
        }
    }

    /** The context of a slice in its submitter's thread. */
    private static final class CallerContext extends TaskContext {
        private final WorkerPool pool;
        private final TrafficMonitor monitor;
        private final @Nullable CallerContext outer;

        CallerContext(WorkerPool pool, TrafficMonitor monitor, @Nullable CallerContext outer) {
            this.pool = pool;
            this.monitor = monitor;
            this.outer = outer;
        }

        @Override
        public int worker() {
            return -1;
        }

        @Override
        public int domain() {
            return -1;
        }

        @Override
        protected void book(Outcome outcome) {
            pool.countElsewhere(task(), outcome);
        }

        void bookTraffic() {
            if (touchedAnything()) {
                int slot = task().slot();
                int home = task().epoch().mapping().home(slot, 0);
                if (task().countsAsSearch()) {
                    monitor.add(home, slot, bytes());
                } else {
                    monitor.addBytes(home, slot, bytes());
                }
            }
        }

        Step<?, ?> left() {
            Step<?, ?> step = step();
            if (step == null) {
                throw new IllegalStateException("a slice that parks or forks must say how");
            }
            return step;
        }
    }
}
