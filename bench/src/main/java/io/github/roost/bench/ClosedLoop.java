package io.github.roost.bench;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Drives searches so that a fixed number is under way at any time: each that completes lets the next one start. One
 * thread submits; it sleeps until one in {@value #OF_A_BURST} has completed, as a server reads what has arrived in bursts,
 * for to wake it for each would cost more than many a search. Latency runs from before the submission to the completion.
 *
 * @param inFlight searches under way at a time, at least 1
 */
public record ClosedLoop(int inFlight) {
    private static final int SIGNIFICANT_DIGITS = 3;
    private static final int OF_A_BURST = 16;

    public ClosedLoop {
        if (inFlight < 1) {
            throw new IllegalArgumentException("in-flight must be at least 1, got " + inFlight);
        }
    }

    /** Starts the search of one number. */
    @FunctionalInterface
    public interface Search<R> {
        CompletableFuture<R> start(long number);
    }

    /** Starts the searches of {@code count} numbers from {@code first} on; one future each, in their order. */
    @FunctionalInterface
    public interface BatchSearch<R> {
        List<CompletableFuture<R>> start(long first, int count);
    }

    /** Takes the result of one number; called by whichever thread completes it. */
    @FunctionalInterface
    public interface Receiver<R> {
        void accept(long number, R result);
    }

    /**
     * What a run was like.
     *
     * @param searches how many completed
     * @param elapsed from the first submission to the last completion
     * @param latencies of each search
     */
    public record Run(long searches, Duration elapsed, Latencies latencies) {
        /** Searches per second. */
        public double perSecond() {
            return searches / Math.max(1e-9, elapsed.toNanos() / 1e9);
        }
    }

    /**
     * Runs searches number 0, 1, ... until {@code count} are done or the time is up, and waits for those under way.
     *
     * @param count how many at most
     * @param atMost no search starts later than this after the first
     * @throws InterruptedException if interrupted; searches under way are left to themselves
     * @throws SearchFailedException if a search fails; none starts after it
     */
    public <R> Run run(long count, Duration atMost, Search<R> search, Receiver<R> receiver)
            throws InterruptedException {
        return run(count, atMost, 1, (first, one) -> List.of(search.start(first)), receiver);
    }

    /**
     * {@link #run(long, Duration, Search, Receiver)} of searches that start together: as many as are free to at a time.
     *
     * @param count how many at most
     * @param atMost no search starts later than this after the first
     * @throws InterruptedException if interrupted; searches under way are left to themselves
     * @throws SearchFailedException if a search fails; none starts after it
     */
    public <R> Run runBatches(long count, Duration atMost, BatchSearch<R> search, Receiver<R> receiver)
            throws InterruptedException {
        return run(count, atMost, inFlight, search, receiver);
    }

    private <R> Run run(long count, Duration atMost, int mostTogether, BatchSearch<R> search, Receiver<R> receiver)
            throws InterruptedException {
        Places places = new Places(inFlight);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Histogram nanos = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
        long began = System.nanoTime();
        long started = 0;
        while (started < count && failure.get() == null) {
            int together = places.take((int) Math.min(mostTogether, count - started));
            long submitted = System.nanoTime();
            if (submitted - began >= atMost.toNanos() && started > 0) {
                places.giveBack(together);
                break;
            }
            for (CompletableFuture<R> one : search.start(started, together)) {
                long number = started++;
                var _ = one.whenComplete((result, thrown) -> {
                    nanos.recordValue(Math.max(0, System.nanoTime() - submitted));
                    Throwable failed = thrown == null ? thrownBy(receiver, number, result) : thrown;
                    if (failed != null) {
                        failure.compareAndSet(null, failed);
                    }
                    places.giveBack(1);
                });
            }
        }
        places.awaitAll();
        Duration elapsed = Duration.ofNanos(System.nanoTime() - began);
        Throwable thrown = failure.get();
        if (thrown != null) {
            throw new SearchFailedException(thrown);
        }
        return new Run(started, elapsed, Latencies.ofNanos(nanos));
    }

    /** What a receiver throws, or null: its failure is the run's, and must not keep the place. */
    private static <R> @Nullable Throwable thrownBy(Receiver<R> receiver, long number, R result) {
        try {
            receiver.accept(number, result);
            return null;
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    /**
     * As many places as searches may be under way. One thread takes them, others give them back.
     *
     * <p>No wake-up is lost: who gives back counts and then reads how many are awaited, who sleeps writes that and then
     * reads the count; both are sequentially consistent, so at least one sees the other. While the one sleeps the count
     * only grows, and passes what is awaited once.
     */
    private static final class Places {
        private final int all;
        private final int burst;
        private final Thread taker = Thread.currentThread();
        private final AtomicInteger free;
        private volatile int awaited;

        Places(int all) {
            this.all = all;
            this.burst = Math.ceilDiv(all, OF_A_BURST);
            this.free = new AtomicInteger(all);
        }

        /** Takes what is free, at least one place, at most so many; how many. */
        int take(int most) throws InterruptedException {
            if (free.get() == 0) {
                await(burst);
            }
            int taken = Math.min(most, free.get());
            free.addAndGet(-taken);
            return taken;
        }

        void awaitAll() throws InterruptedException {
            await(all);
        }

        private void await(int count) throws InterruptedException {
            awaited = count;
            while (free.get() < count) {
                LockSupport.park(this);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
        }

        /** One at a time but for the taker, which nobody awaits while it runs: so what is awaited is met, not passed. */
        void giveBack(int places) {
            if (free.addAndGet(places) == awaited) {
                LockSupport.unpark(taker);
            }
        }
    }
}
