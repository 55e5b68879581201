package io.github.roost.vector.spi;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * The time of a scan that lets searches go first, and gives up when they take most of the time: the worker is busy then. Used by one thread.
 */
final class IdleScan {
    /** Times that searches may take of the scan's own time. */
    private static final int AWAY_PER_OWN = 2;
    /** A burst of searches that lasts no longer does not end the scan, nor do several time slices of CPU-bound threads of others. */
    private static final long BURST_NANOS = 50_000_000;

    private final LongSupplier clock;
    private final Runnable yield;
    private final BooleanSupplier unwanted;
    private final long began;
    private long away;

    /**
     * @param clock nanoseconds
     * @param yield lets searches go first
     * @param unwanted whether the result is no longer wanted
     */
    IdleScan(LongSupplier clock, Runnable yield, BooleanSupplier unwanted) {
        this.clock = clock;
        this.yield = yield;
        this.unwanted = unwanted;
        this.began = clock.getAsLong();
    }

    /** Lets searches go first; returns whether to give up. */
    boolean isOver() {
        long left = clock.getAsLong();
        yield.run();
        away += clock.getAsLong() - left;
        return away > BURST_NANOS + AWAY_PER_OWN * ownNanos() || unwanted.getAsBoolean();
    }

    /** The time that the scan itself has taken. */
    long ownNanos() {
        return clock.getAsLong() - began - away;
    }
}
