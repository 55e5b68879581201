package io.github.roost.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Durations as nanoseconds that may be added to {@link System#nanoTime()}. Stateless. */
final class Nanos {
    /** Some 146 years: practically never, and far enough from where differences of times change their sign. */
    private static final long NEVER = Long.MAX_VALUE / 2;

    private Nanos() {}

    /** A duration of any length, at most {@link #NEVER} either way. */
    static long of(Duration duration) {
        return Math.clamp(TimeUnit.NANOSECONDS.convert(duration), -NEVER, NEVER);
    }
}
