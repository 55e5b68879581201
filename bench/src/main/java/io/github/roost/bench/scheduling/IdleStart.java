package io.github.roost.bench.scheduling;

import io.github.roost.bench.scheduling.Contender.TaskPool;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Question: how long from the submission of a task to its start, while all workers sleep? The contenders alternate task by task in one process; the
 * submitter sleeps until the task is done, like a caller of {@code join}. Not a JMH benchmark: JMH samples the time of whole calls, and this
 * interval begins in one thread and ends in another.
 */
public final class IdleStart {
    private static final long PAUSE_NANOS = 1_000_000;
    /** Long enough for workers to fall asleep. */
    private static final long SHORT_PAUSE_NANOS = 100_000;
    /** Warm-up tasks without a pause, and as many with a short one: in a service the submit path is compiled, and the JDK's pools have less code to compile. */
    private static final int COMPILED_AFTER = 20_000;

    private static final long LONGEST_NANOS = 10_000_000_000L;

    /** Measures the nanoseconds from submission to start of {@code tasks} tasks per contender. */
    public Map<Contender, Histogram> run(Collection<Contender> contenders, int tasks) {
        Map<Contender, TaskPool> pools = new EnumMap<>(Contender.class);
        Map<Contender, Histogram> times = new EnumMap<>(Contender.class);
        try {
            for (Contender contender : contenders) {
                pools.put(contender, contender.open());
                times.put(contender, new Histogram(LONGEST_NANOS, 3));
            }
            for (TaskPool pool : pools.values()) {
                for (int task = 0; task < COMPILED_AFTER; task++) {
                    startNanos(pool);
                }
                // The code that sleeps and wakes is compiled only if workers sleep.
                for (int task = 0; task < COMPILED_AFTER; task++) {
                    LockSupport.parkNanos(SHORT_PAUSE_NANOS);
                    startNanos(pool);
                }
            }
            for (int task = -tasks / 4; task < tasks; task++) {
                boolean counts = task >= 0;
                pools.forEach((contender, pool) -> {
                    LockSupport.parkNanos(PAUSE_NANOS);
                    long nanos = Math.min(startNanos(pool), LONGEST_NANOS);
                    times.computeIfPresent(contender, (same, histogram) -> {
                        if (counts) {
                            histogram.recordValue(nanos);
                        }
                        return histogram;
                    });
                });
            }
        } finally {
            pools.values().forEach(TaskPool::close);
        }
        return times;
    }

    private static long startNanos(TaskPool pool) {
        long[] started = new long[1];
        CountDownLatch done = new CountDownLatch(1);
        long submitted = System.nanoTime();
        var _ = pool.submit(() -> {
            started[0] = System.nanoTime();
            done.countDown();
        });
        try {
            done.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while a task was running", e);
        }
        return started[0] - submitted;
    }

    /** The CPU time of all idle workers of Roost, as a share of one core, over {@code millis} milliseconds. */
    public double idleShareOfACore(long millis) {
        try (TaskPool pool = Contender.ROOST.open()) {
            var _ = pool.submit(() -> {});
            LockSupport.parkNanos(200_000_000);
            long before = workerCpuNanos();
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < millis * 1_000_000) {
                LockSupport.parkNanos(millis * 1_000_000);
            }
            return (double) (workerCpuNanos() - before) / (System.nanoTime() - begin);
        }
    }

    private static long workerCpuNanos() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("roost-")) {
                sum += Math.max(0, threads.getThreadCpuTime(thread.getThreadId()));
            }
        }
        return sum;
    }
}
