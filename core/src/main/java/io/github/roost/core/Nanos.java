package io.github.roost.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Converts durations to nanoseconds that can be added to {@link System#nanoTime()} without overflow of differences. Stateless. */
final class Nanos {
    /** About 146 years: practically never, and small enough that differences of times keep their sign. */
    private static final long NEVER = Long.MAX_VALUE / 2;

    private Nanos() {}

    /** Returns a duration in nanoseconds, clamped to {@link #NEVER} either way. */
    static long of(Duration duration) {
        return Math.clamp(TimeUnit.NANOSECONDS.convert(duration), -NEVER, NEVER);
    }
}
