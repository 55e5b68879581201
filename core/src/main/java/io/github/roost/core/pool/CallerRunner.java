package io.github.roost.core.pool;

import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.pool.Task.After;
import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.spi.Step;
import java.util.concurrent.atomic.LongAdder;

/**
 * Runs tasks in their submitters' threads when the rings are full. A task that parks resumes on a worker of its home.
 * Thread-safe.
 */
public final class CallerRunner {
    /** Set while a thread runs a task that it has submitted. */
    private static final ThreadLocal<Boolean> RUNNING = new ThreadLocal<>();

    private final WorkerPool pool;
    private final TrafficMonitor monitor;
    private final LongAdder[] outcomes = new LongAdder[Outcome.values().length];

    public CallerRunner(WorkerPool pool, TrafficMonitor monitor) {
        this.pool = pool;
        this.monitor = monitor;
        for (int i = 0; i < outcomes.length; i++) {
            outcomes[i] = new LongAdder();
        }
    }

    /** The number of tasks that ended here with an outcome. */
    public long count(Outcome outcome) {
        return outcomes[outcome.ordinal()].sum();
    }

    /** Whether the calling thread runs a task that it has submitted. */
    public static boolean isRunning() {
        return RUNNING.get() != null;
    }

    /** Runs a task that is in no queue. */
    public void run(Task task) {
        if (task.claim()) {
            runOwned(task);
        }
    }

    /** Runs a task that the caller owns, until it has ended or continues on a worker. */
    public void runOwned(Task task) {
        // If an error occurs before the home is known, any worker can handle the task.
        Worker home = pool.worker(0);
        After after = After.YIELDED;
        CallerContext context = null;
        boolean outermost = false;
        try {
            outermost = RUNNING.get() == null;
            RUNNING.set(Boolean.TRUE);
            home = pool.worker(pool.dispatch().worker(task.slot(), task.epoch().mapping()));
            context = new CallerContext();
            while (after == After.YIELDED) {
                Faults.point();
                context.begin(task, System.nanoTime());
                after = task.run(context);
                context.bookTraffic();
                Faults.point();
            }
            switch (after) {
                case PARKED -> Parked.park(home, task, ((Step.Park<?, ?>) context.left()).pending());
                case FORKED ->
                    pool.dispatch().fork((Stepper) task, (Step.Fork<?, ?, ?, ?>) context.left(), home.resume);
                default -> {}
            }
        } catch (Throwable failure) {
            // Not thrown by user code: that is the outcome of a future.
            if (context == null || !context.isFinished()) {
                outcomes[Outcome.FAILED.ordinal()].increment();
            }
            pool.completion().failBooked(task, home, failure);
            return;
        } finally {
            if (outermost) {
                RUNNING.remove();
            }
        }
        if (after == After.ENDED) {
            // Continuations may wait for other continuations of this task, so they do not run nested in its delivery.
            pool.completion().finish(task, home, home.resume);
        }
    }

    /** The context of a slice in its submitter's thread. */
    private final class CallerContext extends TaskContext {
        @Override
        public int worker() {
            return -1;
        }

        @Override
        public int domain() {
            return -1;
        }

        @Override
        void book(Outcome outcome) {
            if (task().countsAsTask()) {
                outcomes[outcome.ordinal()].increment();
            }
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
