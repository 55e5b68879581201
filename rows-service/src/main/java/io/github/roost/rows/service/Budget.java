package io.github.roost.rows.service;

import java.util.HashMap;
import java.util.Map;

/**
 * Bytes that the calls of a server may take together, so that clients that do not read their answers, or ask for many at once, do not fill its memory.
 * A connection takes a quarter at most, except for its only call. Large takings leave a quarter for small ones, except for the only one of all.
 * Thread-safe.
 */
final class Budget {
    private static final int PARTS = 4;

    private final long max;
    private final int small;
    /** Guarded by this, as is the field below. */
    private final Map<Object, Long> byConnection = new HashMap<>();

    private long taken;

    /**
     * @param max the bytes of all calls, 1 or more
     * @param small takings of up to so many bytes are small
     */
    Budget(long max, int small) {
        this.max = max;
        this.small = small;
    }

    /** Takes bytes, if they are free. */
    synchronized boolean tryTake(Object connection, long bytes) {
        long own = byConnection.getOrDefault(connection, 0L);
        long of = bytes <= small ? max : max - max / PARTS;
        boolean isFree = taken == 0 || taken + bytes <= of;
        boolean isShare = own == 0 || own + bytes <= max / PARTS;
        if (isFree && isShare) {
            taken += bytes;
            byConnection.put(connection, own + bytes);
        }
        return isFree && isShare;
    }

    /**
     * Takes bytes as soon as they are free.
     *
     * @param until the time of {@link System#nanoTime} until which to wait
     * @return false if they were not free until then
     */
    synchronized boolean take(Object connection, long bytes, long until) throws InterruptedException {
        while (!tryTake(connection, bytes)) {
            long millis = (until - System.nanoTime()) / 1_000_000;
            if (millis <= 0) {
                return false;
            }
            wait(millis);
        }
        return true;
    }

    /** Gives back bytes that were taken. */
    synchronized void giveBack(Object connection, long bytes) {
        taken -= bytes;
        byConnection.computeIfPresent(connection, (same, own) -> own == bytes ? null : own - bytes);
        notifyAll();
    }

    synchronized long taken() {
        return taken;
    }
}
