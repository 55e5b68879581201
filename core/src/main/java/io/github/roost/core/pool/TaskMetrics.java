package io.github.roost.core.pool;

import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.pool.WorkerCounters.Counter;

/**
 * Books the slices that a worker has run: the outcomes and times of tasks, and the traffic of mapping ids. Used only by the runner's
 * thread.
 */
final class TaskMetrics {
    /** Divisor of the running mean of task times. */
    private static final int TASKS_PER_MEAN = 8;

    private final Worker worker;
    private final WorkerPool pool;
    private final CrossDomainHelp help;
    private final Progress progress;
    private final WorkerCounters counters;
    /** Running mean of task times. */
    private long meanNanos;

    TaskMetrics(Worker worker, WorkerPool pool, Progress progress, WorkerCounters counters) {
        this.worker = worker;
        this.pool = pool;
        this.help = pool.help();
        this.progress = progress;
        this.counters = counters;
    }

    /** Books the last slice of a task, and the outcome of the task. */
    void ended(Frame frame, Outcome outcome) {
        Faults.point();
        Task running = frame.task();
        long end = System.nanoTime();
        progress.endOfLast(end);
        long startNanos = frame.startNanos();
        long submittedAt = running.submittedNanos();
        if (submittedAt != Task.NOT_TIMED) {
            counters.add(Counter.WAITS_TIMED, 1);
            counters.add(Counter.WAIT_NANOS, Math.max(0, startNanos - submittedAt));
        }
        counters.add(Counter.RUN_NANOS, end - startNanos);
        updateMean(end - startNanos);
        if (running.countsAsTask()) {
            counters.add(Counter.RUNS_TIMED, 1);
            counters.add(WorkerPool.counterOf(outcome), 1);
        }
        if (frame.outer() == null && frame.touchedAnything()) {
            int home = frame.stolenFrom() < 0 ? worker.domain : frame.stolenFrom();
            help.measured(worker, home, end - startNanos, frame.bytes());
        }
        bookTraffic(frame);
        pool.ran(running, worker.index, end - startNanos);
    }

    private void updateMean(long nanos) {
        long before = meanNanos;
        long mean = before + (nanos - before) / TASKS_PER_MEAN;
        meanNanos = mean;
        worker.runsTasksOf(mean);
    }

    /** Books the failure of a task whose slice threw an error. */
    void failed(Frame frame) {
        try {
            frame.finished(Outcome.FAILED);
        } catch (Throwable cannotBook) {
            // The counts may be off by one; the caller fails the task.
            counters.add(Counter.FAILED, 1);
        }
    }

    /** Books a slice after which its task continues. */
    void continues(Frame frame) {
        long end = System.nanoTime();
        progress.endOfLast(end);
        counters.add(Counter.RUN_NANOS, end - frame.startNanos());
        bookTraffic(frame);
    }

    private void bookTraffic(Frame frame) {
        if (frame.touchedAnything()) {
            Task task = frame.task();
            if (task.countsAsSearch()) {
                pool.monitor().add(worker.domain, task.slot(), frame.bytes());
            } else {
                pool.monitor().addBytes(worker.domain, task.slot(), frame.bytes());
            }
        }
    }
}
