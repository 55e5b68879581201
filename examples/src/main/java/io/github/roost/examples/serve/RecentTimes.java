package io.github.roost.examples.serve;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/** How long things of the last ten seconds took, in slices of one second. Thread-safe. */
final class RecentTimes {
    private static final int SLICES = 10;
    private static final int DIGITS = 3;

    private final LongSupplier nanoClock;
    /** Slice {@code i} is of the second {@code seconds[i]}, which has the remainder {@code i}. Guarded by this. */
    private final Histogram[] slices = new Histogram[SLICES];

    private final long[] seconds = new long[SLICES];

    /** @param nanoClock a clock in nanoseconds that never goes back */
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

    /** The time within which a share of them, in percent, was done, in milliseconds; 0 if there were none. */
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
