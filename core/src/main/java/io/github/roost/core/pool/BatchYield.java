package io.github.roost.core.pool;

import io.github.roost.core.task.Task;

/**
 * Lets searches go before the batch work that runs: it runs waiting interactive tasks nested in the batch task, and yields the core
 * to other threads. Used only by the runner's thread.
 */
final class BatchYield {
    /** Minimum time between two yields of the core by batch work: a hundred times the cost of the yield call. */
    private static final long YIELD_NANOS = 50_000;
    /** Minimum ratio of batch work to the time the core was away before it: batch work yields at most a fifth of its time. */
    private static final long WORK_PER_YIELD = 4;

    private final TaskChoice choice;
    private final Slices slices;
    private final WorkerTimeSlice timeSlice;
    private final MaintenanceTurns maintenance;

    /** The time until which the running batch task is not interrupted. */
    private long undisturbedUntil = System.nanoTime();
    /** The time of the next yield of the core by batch work. */
    private long yieldsAt = System.nanoTime();
    /** Whether the searches that run have interrupted batch work. */
    private boolean runs;

    BatchYield(TaskChoice choice, Slices slices, MaintenanceTurns maintenance, WorkerTimeSlice timeSlice) {
        this.choice = choice;
        this.slices = slices;
        this.timeSlice = timeSlice;
        this.maintenance = maintenance;
    }

    /**
     * Called within a batch task: runs waiting interactive tasks, of this worker or of workers that it may steal from without a
     * gate, and now and then yields the core to other threads. Without a yield, a thread that wakes up on a busy core gets it only
     * at the next tick of the operating system's clock, up to 4 ms later on Linux; a caller would then submit all searches of
     * that time in one burst. No other batch work runs in between: it may be of the same kind as the interrupted task.
     */
    @SuppressWarnings("ThreadPriorityCheck") // the purpose is to yield the core
    void yieldToSearches() {
        if (runs) {
            return;
        }
        choice.lookAround();
        timeSlice.batchBegins();
        boolean ran = runInteractive();
        long left = System.nanoTime();
        if (left - yieldsAt >= 0) {
            Thread.yield();
            yieldsAt = nextYield(left, System.nanoTime());
            if (!ran) {
                runInteractive();
            }
        }
    }

    /**
     * When to yield the core again, after a yield from {@code leftNanos} to {@code backNanos}: after at least four times the length
     * of that yield. If other threads are CPU-bound on the core, a yield lasts for their time slice of milliseconds; a yield every
     * 50 us would almost stop the batch work.
     */
    static long nextYield(long leftNanos, long backNanos) {
        return backNanos + Math.max(YIELD_NANOS, WORK_PER_YIELD * (backNanos - leftNanos));
    }

    /** Whether the interrupted work is maintenance whose share of the time is due, so that it goes before searches. */
    private boolean isDue() {
        Frame frame = slices.current();
        return frame != null && frame.task().isMaintenance() && maintenance.isDue(frame);
    }

    /**
     * Runs waiting interactive tasks; false if none ran. After the maximum number of interactive tasks, the batch task runs for
     * at least their mean time before it is interrupted again.
     */
    private boolean runInteractive() {
        if (!choice.seesInteractiveTask()) {
            return false;
        }
        long began = System.nanoTime();
        if (began - undisturbedUntil < 0) {
            return false;
        }
        try {
            StackRoom.require();
        } catch (StackOverflowError little) {
            // The batch work may still end within its stack; the searches wait for another worker or its end.
            return false;
        }
        runs = true;
        int ran = 0;
        try {
            while (ran < TaskChoice.TURNS && choice.runnerGoesOn() && !isDue()) {
                Task task = choice.takeInteractive();
                if (task == null) {
                    break;
                }
                slices.runNested(task);
                ran++;
            }
            if (ran == TaskChoice.TURNS) {
                long end = System.nanoTime();
                undisturbedUntil = end + (end - began) / TaskChoice.TURNS;
            }
        } finally {
            runs = false;
        }
        return ran > 0;
    }
}
