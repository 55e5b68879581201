package io.github.roost.examples.serve;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Counts the requests that have been accepted and not yet answered, and closes the door. Entering looks at the door and
 * counts under one lock, and closing takes the same: a request is either waited for by {@link #drain} or turned away.
 */
final class InFlight {
    /** Guarded by this. */
    private int requests;
    /** Guarded by this; never opened again. */
    private boolean shut;

    /** Lets a request in; false once the door is shut. Who is let in must {@link #exit}. */
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

    /** Shuts the door and waits for those inside; whether all have left in time. An interrupt ends the waiting. */
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
