package io.github.roost.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Waits for what other threads do. */
public final class Await {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Duration BETWEEN = Duration.ofMillis(1);

    private Await() {}

    /** Something that becomes true. */
    @FunctionalInterface
    public interface Condition<E extends Exception> {
        /** Whether it is true. */
        boolean holds() throws E;
    }

    /**
     * Returns as soon as {@code condition} holds.
     *
     * @throws AssertionError if it does not hold within a minute
     */
    public static <E extends Exception> void until(Condition<E> condition) throws E {
        long began = System.nanoTime();
        while (!condition.holds()) {
            if (System.nanoTime() - began > LIMIT.toNanos()) {
                throw new AssertionError("the condition must hold within " + LIMIT + ", but did not");
            }
            LockSupport.parkNanos(BETWEEN.toNanos());
        }
    }
}
