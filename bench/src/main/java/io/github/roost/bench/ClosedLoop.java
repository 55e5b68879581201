package io.github.roost.bench;

import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.SearchFailedException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A closed-loop load generator: keeps a fixed number of searches in flight; each completion starts the next search. One thread submits. It sleeps
 * until one in {@value #OF_A_BURST} searches has completed, like a server that reads requests in bursts: a wake-up per completion would cost more
 * than many searches. Latency runs from before the submission to the completion.
 *
 * @param inFlight searches in flight at a time, at least 1
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

    /** Starts the searches of the {@code count} numbers from {@code first} on; returns one future per search, in order. */
    @FunctionalInterface
    public interface BatchSearch<R> {
        List<CompletableFuture<R>> start(long first, int count);
    }

    /** Takes the result of one number; called by the thread that completes it. */
    @FunctionalInterface
    public interface Receiver<R> {
        void accept(long number, R result);
    }

    /**
     * The result of a run.
     *
     * @param searches number of completed searches
     * @param elapsed from the first submission to the last completion
     * @param latencies of all searches
     */
    public record Run(long searches, Duration elapsed, Latencies latencies) {
        /** Searches per second. */
        public double perSecond() {
            return searches / Math.max(1e-9, elapsed.toNanos() / 1e9);
        }
    }

    /**
     * Runs searches number 0, 1, ... until {@code count} are done or the time is up, and waits for the searches in flight.
     *
     * @param count max searches
     * @param atMost time after the first submission at which no more searches start
     * @throws InterruptedException if interrupted; does not wait for the searches in flight
     * @throws SearchFailedException if a search fails; no search starts after that
     */
    public <R> Run run(long count, Duration atMost, Search<R> search, Receiver<R> receiver)
            throws InterruptedException {
        return run(count, within(atMost), 1, (first, one) -> List.of(search.start(first)), receiver);
    }

    /**
     * Runs searches number 0, 1, ... as long as a condition holds, at least one, and waits for the searches in flight.
     *
     * @param goesOn checked before each search but the first, by the submitting thread
     * @throws InterruptedException if interrupted; does not wait for the searches in flight
     * @throws SearchFailedException if a search fails; no search starts after that
     */
    public <R> Run runWhile(BooleanSupplier goesOn, Search<R> search, Receiver<R> receiver)
            throws InterruptedException {
        return run(Long.MAX_VALUE, goesOn, 1, (first, one) -> List.of(search.start(first)), receiver);
    }

    private static BooleanSupplier within(Duration time) {
        long began = System.nanoTime();
        return () -> System.nanoTime() - began < time.toNanos();
    }

    /**
     * {@link #run(long, Duration, Search, Receiver)} for searches submitted in batches: each batch fills all free places.
     *
     * @param count max searches
     * @param atMost time after the first submission at which no more searches start
     * @throws InterruptedException if interrupted; does not wait for the searches in flight
     * @throws SearchFailedException if a search fails; no search starts after that
     */
    public <R> Run runBatches(long count, Duration atMost, BatchSearch<R> search, Receiver<R> receiver)
            throws InterruptedException {
        return run(count, within(atMost), inFlight, search, receiver);
    }

    private <R> Run run(
            long count, BooleanSupplier goesOn, int maxTogether, BatchSearch<R> search, Receiver<R> receiver)
            throws InterruptedException {
        Places places = new Places(inFlight);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Histogram nanos = new ConcurrentHistogram(SIGNIFICANT_DIGITS);
        long began = System.nanoTime();
        long started = 0;
        while (started < count && failure.get() == null) {
            int together = places.take((int) Math.min(maxTogether, count - started));
            if (started > 0 && !goesOn.getAsBoolean()) {
                places.giveBack(together);
                break;
            }
            long submitted = System.nanoTime();
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

    /** Returns the exception of the receiver, or null. It fails the run, and must not prevent that the place is given back. */
    private static <R> @Nullable Throwable thrownBy(Receiver<R> receiver, long number, R result) {
        try {
            receiver.accept(number, result);
            return null;
        } catch (RuntimeException | Error e) {
            return e;
        }
    }

    /**
     * A counter of free places, one per search that may be in flight. One thread takes places, others give them back.
     *
     * <p>No wake-up is lost: {@code giveBack} increments the count and then reads {@code awaited}; the taker writes {@code awaited} and then reads
     * the count. All four are sequentially consistent, so at least one thread sees the other's write. While the taker sleeps the count only grows,
     * so it equals {@code awaited} exactly once.
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

        /** Takes all free places, at least one and at most {@code max}; returns how many. */
        int take(int max) throws InterruptedException {
            if (free.get() == 0) {
                await(burst);
            }
            int taken = Math.min(max, free.get());
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

        /**
         * Gives places back one at a time, so that the count cannot skip {@code awaited}; only the taker returns several, and it is not asleep then.
         */
        void giveBack(int places) {
            if (free.addAndGet(places) == awaited) {
                LockSupport.unpark(taker);
            }
        }
    }
}
