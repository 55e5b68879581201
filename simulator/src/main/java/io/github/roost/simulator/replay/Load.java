package io.github.roost.simulator.replay;

import io.github.roost.simulator.measure.SearchFailedException;
import io.github.roost.simulator.workload.QueryStream;
import io.github.roost.simulator.workload.WorkloadSpec;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Drives a contender with a workload's searches for a time. In a closed loop the thread that completes a search submits the next, so that no driver
 * takes a core. In an open loop one thread submits at Poisson times, and latency runs from the intended time, so that a slow answer does not hide
 * the delay of later searches (coordinated omission).
 */
final class Load {
    private static final int SIGNIFICANT_DIGITS = 3;
    /** The submitter sleeps for waits longer than this, since spinning would take a core from the contender. */
    private static final long SHORTEST_SLEEP_NANOS = 5_000;

    private final WorkloadSpec spec;
    private final ReplayContender contender;
    private final int[] tables;
    private final int[] targets;
    private final AtomicLong next;

    /**
     * @param tables with {@code targets} the stream of searches, which repeats
     * @param targets one per entry of {@code tables}
     * @param first number of the first search
     */
    Load(WorkloadSpec spec, ReplayContender contender, int[] tables, int[] targets, long first) {
        this.spec = spec;
        this.contender = contender;
        this.tables = tables;
        this.targets = targets;
        this.next = new AtomicLong(first);
    }

    /**
     * The result of a run.
     *
     * @param searches number of completed searches
     * @param nanos from the first submission to the last completion
     * @param latencies of all searches, in nanoseconds
     * @param late delays from the intended time of a search of an open loop to its submission, in nanoseconds; included in the latencies. Empty in a
     *     closed loop
     */
    record Run(long searches, long nanos, Histogram latencies, Histogram late) {
        double perSecond() {
            return searches * 1e9 / nanos;
        }
    }

    Run run(Duration atMost) throws InterruptedException {
        Histogram latencies = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
        Histogram late = new Histogram(SIGNIFICANT_DIGITS);
        long began = System.nanoTime();
        long end = began + atMost.toNanos();
        if (spec.perSecond() > 0) {
            open(began, end, latencies, late);
        } else {
            closed(end, latencies);
        }
        return new Run(latencies.getTotalCount(), System.nanoTime() - began, latencies, late);
    }

    private void closed(long end, Histogram latencies) throws InterruptedException {
        CountDownLatch chains = new CountDownLatch(spec.inFlight());
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        for (int chain = 0; chain < spec.inFlight(); chain++) {
            follow(end, latencies, chains, failure);
        }
        chains.await();
        rethrow(failure.get());
    }

    /** Submits one search, whose completion submits the next. */
    private void follow(
            long end, Histogram latencies, CountDownLatch chains, AtomicReference<@Nullable Throwable> failure) {
        long submitted = System.nanoTime();
        int number = (int) (next.getAndIncrement() % tables.length);
        var _ = contender.search(tables[number], targets[number]).whenComplete((found, thrown) -> {
            long now = System.nanoTime();
            if (thrown != null) {
                failure.compareAndSet(null, thrown);
                chains.countDown();
                return;
            }
            latencies.recordValue(Math.max(0, now - submitted));
            if (now < end && failure.get() == null) {
                follow(end, latencies, chains, failure);
            } else {
                chains.countDown();
            }
        });
    }

    private void open(long began, long end, Histogram latencies, Histogram late) throws InterruptedException {
        QueryStream arrivals = new QueryStream(spec, 1);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Semaphore ended = new Semaphore(0);
        int begun = 0;
        for (long intended = began + arrivals.nanosToNext(); intended < end; intended += arrivals.nanosToNext()) {
            awaitTime(intended);
            late.recordValue(Math.max(0, System.nanoTime() - intended));
            long from = intended;
            int number = (int) (next.getAndIncrement() % tables.length);
            begun++;
            var _ = contender.search(tables[number], targets[number]).whenComplete((found, thrown) -> {
                if (thrown == null) {
                    latencies.recordValue(Math.max(0, System.nanoTime() - from));
                } else {
                    failure.compareAndSet(null, thrown);
                }
                ended.release();
            });
        }
        ended.acquire(begun);
        rethrow(failure.get());
    }

    private static void awaitTime(long time) {
        for (long left = time - System.nanoTime(); left > 0; left = time - System.nanoTime()) {
            if (left > SHORTEST_SLEEP_NANOS) {
                LockSupport.parkNanos(left);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    private static void rethrow(@Nullable Throwable failure) {
        if (failure != null) {
            throw new SearchFailedException(failure);
        }
    }
}
