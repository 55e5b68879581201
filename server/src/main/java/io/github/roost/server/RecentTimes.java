package io.github.roost.server;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/** A histogram of the durations of the last ten seconds, in slices of one second. Thread-safe. */
final class RecentTimes {
    private static final int SLICES = 10;
    private static final int DIGITS = 3;

    private final LongSupplier nanoClock;
    /** Slice {@code i} belongs to second {@code seconds[i]}, which is {@code i} modulo the number of slices. Guarded by this. */
    private final Histogram[] slices = new Histogram[SLICES];

    private final long[] seconds = new long[SLICES];

    /** @param nanoClock a monotonic clock in nanoseconds */
    RecentTimes(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        Arrays.setAll(slices, i -> new Histogram(DIGITS));
        Arrays.fill(seconds, Long.MIN_VALUE);
    }

    synchronized void add(long nanos) {
        long now = second();
        int at = Math.floorMod(now, SLICES);
        if (seconds[at] != now) {
            slices[at].reset();
            seconds[at] = now;
        }
        slices[at].recordValue(Math.max(0, nanos));
    }

    /** A percentile of the durations in milliseconds; 0 if there are none. */
    synchronized double millis(double percent) {
        long now = second();
        Histogram all = new Histogram(DIGITS);
        for (int i = 0; i < SLICES; i++) {
            if (seconds[i] > now - SLICES) {
                all.add(slices[i]);
            }
        }
        return all.getTotalCount() == 0 ? 0 : all.getValueAtPercentile(percent) / 1e6;
    }

    private long second() {
        return TimeUnit.NANOSECONDS.toSeconds(nanoClock.getAsLong());
    }
}
