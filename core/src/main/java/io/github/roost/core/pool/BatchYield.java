package io.github.roost.core.pool;

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
    private final Progress progress;
    private final WorkerTimeSlice timeSlice;

    /** The time until which the running batch task is not interrupted. */
    private long undisturbedUntil = System.nanoTime();
    /** The time of the next yield of the core by batch work. */
    private long yieldsAt = System.nanoTime();

    BatchYield(TaskChoice choice, Slices slices, Progress progress, WorkerTimeSlice timeSlice) {
        this.choice = choice;
        this.slices = slices;
        this.progress = progress;
        this.timeSlice = timeSlice;
    }

    /**
     * Called within a batch task: runs waiting interactive tasks, of this worker or of workers that it may steal from without a
     * gate, and now and then yields the core to other threads. Without a yield, a thread that wakes up on a busy core gets it only
     * at the next tick of the operating system's clock, up to 4 ms later on Linux; a caller would then submit all searches of
     * that time in one burst. No other batch work runs in between: it may be of the same kind as the interrupted task.
     */
    @SuppressWarnings("ThreadPriorityCheck") // the purpose is to yield the core
    void yieldToSearches() {
        if (progress.onlyInteractive()) {
            return;
        }
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
        progress.onlyInteractive(true);
        int ran = 0;
        try {
            while (ran < TaskChoice.INTERACTIVE_PER_BATCH && choice.nextNested()) {
                slices.runNested();
                ran++;
            }
            if (ran == TaskChoice.INTERACTIVE_PER_BATCH) {
                long end = System.nanoTime();
                undisturbedUntil = end + (end - began) / TaskChoice.INTERACTIVE_PER_BATCH;
            }
        } finally {
            progress.onlyInteractive(false);
        }
        return ran > 0;
    }
}
