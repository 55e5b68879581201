package io.github.roost.lucene;

import java.util.function.LongSupplier;

/**
 * Lets searches go before a build, but for at most three quarters of the time: someone waits for the build. Used by the thread that
 * builds, between pieces of its work.
 */
final class BuildTurns implements Runnable {
    private static final int SEARCHES_PER_BUILD = 3;

    private final Runnable yieldToSearches;
    private final LongSupplier nanoTime;
    private long undisturbedUntil;

    BuildTurns(Runnable yieldToSearches, LongSupplier nanoTime) {
        this.yieldToSearches = yieldToSearches;
        this.nanoTime = nanoTime;
        this.undisturbedUntil = nanoTime.getAsLong();
    }

    @Override
    public void run() {
        long began = nanoTime.getAsLong();
        if (began - undisturbedUntil >= 0) {
            yieldToSearches.run();
            long end = nanoTime.getAsLong();
            undisturbedUntil = end + (end - began) / SEARCHES_PER_BUILD;
        }
    }
}
