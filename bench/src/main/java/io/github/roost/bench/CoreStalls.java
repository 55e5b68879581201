package io.github.roost.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongSupplier;

/**
 * How long threads that want to run are off their core: threads do nothing but read the clock, and the gaps in their readings are time taken by a
 * hypervisor, by interrupts or by other processes. A search that runs or waits during a stall is delayed by it.
 *
 * @param counted how long the threads read the clock, summed over threads
 * @param still how much of that time fell into stalls, which are gaps of at least {@value #MIN_MICROS} us
 * @param times number of stalls
 */
public record CoreStalls(Duration counted, Duration still, long times) {
    /** Shorter gaps delay a search no more than the searches queued before it. */
    public static final int MIN_MICROS = 500;

    /** Measures stalls on {@code threads} threads at once, with nothing else running in this JVM. */
    public static CoreStalls of(int threads, Duration time) throws InterruptedException {
        try (ExecutorService readers = Executors.newFixedThreadPool(threads)) {
            List<Callable<CoreStalls>> clocks = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                clocks.add(() -> of(System::nanoTime, time));
            }
            CoreStalls all = new CoreStalls(Duration.ZERO, Duration.ZERO, 0);
            for (Future<CoreStalls> one : readers.invokeAll(clocks)) {
                all = all.plus(one.get());
            }
            return all;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Measures the stalls of the calling thread by a clock in nanoseconds. */
    static CoreStalls of(LongSupplier clock, Duration time) {
        long began = clock.getAsLong();
        long last = began;
        long still = 0;
        long times = 0;
        while (last - began < time.toNanos()) {
            long now = clock.getAsLong();
            if (now - last >= MIN_MICROS * 1_000L) {
                still += now - last;
                times++;
            }
            last = now;
        }
        return new CoreStalls(Duration.ofNanos(last - began), Duration.ofNanos(still), times);
    }

    /** The sum of both. */
    public CoreStalls plus(CoreStalls other) {
        return new CoreStalls(counted.plus(other.counted), still.plus(other.still), times + other.times);
    }

    /** The part of the counted time that was lost, from 0 to 1. */
    public double share() {
        return (double) still.toNanos() / Math.max(1, counted.toNanos());
    }

    /** Stalls per second of one thread. */
    public double perSecond() {
        return times * 1e9 / Math.max(1, counted.toNanos());
    }
}
