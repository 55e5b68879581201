package io.github.roost.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Counts the requests in flight and can be closed for new ones. Entering checks and counts under one lock, which closing takes too: so every
 * request is either waited for by {@link #drain} or turned away.
 */
final class InFlight {
    /** Guarded by this. */
    private int requests;
    /** Guarded by this; never reset. */
    private boolean shut;

    /** Counts a request in; false once closed. After true, the caller must {@link #exit}. */
    synchronized boolean enter() {
        if (!shut) {
            requests++;
        }
        return !shut;
    }

    synchronized void exit() {
        requests--;
        notifyAll();
    }

    synchronized boolean isShut() {
        return shut;
    }

    synchronized int requests() {
        return requests;
    }

    /** Closes and waits for the requests in flight; returns whether all have ended in time. An interrupt ends the wait. */
    synchronized boolean drain(Duration time) {
        shut = true;
        long end = System.nanoTime() + time.toNanos();
        while (requests > 0) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                return false;
            }
            try {
                wait(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }
}
