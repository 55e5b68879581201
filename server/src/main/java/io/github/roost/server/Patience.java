package io.github.roost.server;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts the thread that made it when the time is up, which closes the connection that the thread reads or writes; there is no other way to
 * end a read or a write. Interrupt and close both hold this object's lock, so no interrupt comes after close.
 */
final class Patience implements AutoCloseable {
    private final Thread waiting = Thread.currentThread();
    private final Duration time;
    private final Future<?> alarm;
    /** Guarded by this. */
    private boolean ended;

    /** A clock for any number of them, to be shut down by the caller. */
    static ScheduledExecutorService clock() {
        ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("roost-patience").factory());
        clock.setRemoveOnCancelPolicy(true);
        return clock;
    }

    Patience(ScheduledExecutorService clock, Duration time) {
        this.time = time;
        this.alarm = clock.schedule(this::interrupt, time.toNanos(), TimeUnit.NANOSECONDS);
    }

    private synchronized void interrupt() {
        if (!ended) {
            waiting.interrupt();
        }
    }

    void requireLeft() throws InterruptedIOException {
        if (waiting.isInterrupted()) {
            throw new InterruptedIOException("the body did not arrive within " + time);
        }
    }

    @Override
    public void close() {
        alarm.cancel(false);
        synchronized (this) {
            ended = true;
        }
    }
}
