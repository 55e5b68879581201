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
 * How long cores stand still for want of a processor, whatever runs on them: threads do nothing but read the clock, and what
 * they miss of it was taken from them by a hypervisor, by interrupts or by other processes. A search that runs or waits
 * meanwhile is as much later.
 *
 * @param counted for how long the threads read the clock, all together
 * @param still for how long of that they stood still, at least {@value #MIN_MICROS} us at a time
 * @param times how often they did
 */
public record Standstills(Duration counted, Duration still, long times) {
    /** Shorter ones delay a search by no more than others in front of it do. */
    public static final int MIN_MICROS = 500;

    /** Those of so many threads that compute at once, with nothing else to do for this JVM. */
    public static Standstills of(int threads, Duration time) throws InterruptedException {
        try (ExecutorService readers = Executors.newFixedThreadPool(threads)) {
            List<Callable<Standstills>> clocks = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                clocks.add(() -> of(System::nanoTime, time));
            }
            Standstills all = new Standstills(Duration.ZERO, Duration.ZERO, 0);
            for (Future<Standstills> one : readers.invokeAll(clocks)) {
                all = all.plus(one.get());
            }
            return all;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Those of the calling thread, by a clock of nanoseconds. */
    static Standstills of(LongSupplier clock, Duration time) {
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
        return new Standstills(Duration.ofNanos(last - began), Duration.ofNanos(still), times);
    }

    /** Both together. */
    public Standstills plus(Standstills other) {
        return new Standstills(counted.plus(other.counted), still.plus(other.still), times + other.times);
    }

    /** The part of the time that was lost, from 0 to 1. */
    public double share() {
        return (double) still.toNanos() / Math.max(1, counted.toNanos());
    }

    /** How often a second a thread stood still. */
    public double perSecond() {
        return times * 1e9 / Math.max(1, counted.toNanos());
    }
}
