package io.github.roost.rows.service;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Bytes that the calls of a server may take together, so that clients that do not read their answers, or ask for many at once, do not fill its memory.
 * A connection takes a quarter at most, except for its only call. Calls of one connection wait in order of arrival, connections take turns, and who
 * waits for more than is free is overtaken by nobody, unless its own connection has too much. But a little is free for any connection. Thread-safe.
 */
final class Budget {
    private static final int PARTS = 4;
    /** What a connection may have whatever others have. */
    private static final int MIN_SHARE = 1 << 16;

    private final long max;
    // Guarded by this.
    private final Map<Object, Long> byConnection = new HashMap<>();
    private final Map<Object, Queue<Waiter>> waiting = new LinkedHashMap<>();
    private long taken;

    private record Waiter(Object connection, long bytes, CompletableFuture<Boolean> turn) {}

    /** @param max the bytes of all calls, 1 or more */
    Budget(long max) {
        this.max = max;
    }

    private boolean isShare(Object connection, long bytes) {
        long own = byConnection.getOrDefault(connection, 0L);
        return own == 0 || own + bytes <= max / PARTS;
    }

    private boolean isFree(long bytes) {
        return taken == 0 || taken + bytes <= max;
    }

    private boolean isMinShare(Object connection, long bytes) {
        return byConnection.getOrDefault(connection, 0L) + bytes <= MIN_SHARE;
    }

    private void add(Object connection, long bytes) {
        taken += bytes;
        byConnection.merge(connection, bytes, Long::sum);
    }

    /** Takes bytes, if they are little for the connection, or free while nobody waits. */
    synchronized boolean tryTake(Object connection, long bytes) {
        boolean isTaken =
                isMinShare(connection, bytes) || (waiting.isEmpty() && isFree(bytes) && isShare(connection, bytes));
        if (isTaken) {
            add(connection, bytes);
        }
        return isTaken;
    }

    /**
     * Takes bytes as soon as they are free.
     *
     * @param until the time of {@link System#nanoTime} until which to wait
     * @return false if they were not free until then
     */
    boolean take(Object connection, long bytes, long until) throws InterruptedException {
        Waiter waiter = new Waiter(connection, bytes, new CompletableFuture<>());
        synchronized (this) {
            waiting.computeIfAbsent(connection, first -> new ArrayDeque<>()).add(waiter);
            grant();
        }
        try {
            return waiter.turn.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            return !withdraw(waiter);
        } catch (InterruptedException e) {
            if (!withdraw(waiter)) {
                giveBack(connection, bytes);
            }
            throw e;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns false if it was the waiter's turn before. */
    private synchronized boolean withdraw(Waiter waiter) {
        Queue<Waiter> queue = waiting.get(waiter.connection);
        if (queue == null || !queue.remove(waiter)) {
            return false;
        }
        if (queue.isEmpty()) {
            waiting.remove(waiter.connection);
        }
        grant();
        return true;
    }

    /** Gives the next ones their turns. A pass gives each connection one at most, and puts it behind the others. */
    private void grant() {
        boolean isGranted = true;
        while (isGranted) {
            isGranted = false;
            for (Iterator<Queue<Waiter>> queues = waiting.values().iterator(); queues.hasNext(); ) {
                Queue<Waiter> queue = queues.next();
                Waiter next = queue.element();
                if (isShare(next.connection, next.bytes)) {
                    if (!isFree(next.bytes)) {
                        return;
                    }
                    add(next.connection, next.bytes);
                    queue.remove();
                    queues.remove();
                    if (!queue.isEmpty()) {
                        waiting.put(next.connection, queue);
                    }
                    next.turn.complete(true);
                    isGranted = true;
                    break;
                }
            }
        }
    }

    /** Gives back bytes that were taken. */
    synchronized void giveBack(Object connection, long bytes) {
        if (bytes > 0) {
            taken -= bytes;
            byConnection.computeIfPresent(connection, (same, own) -> own == bytes ? null : own - bytes);
            grant();
        }
    }

    synchronized long taken() {
        return taken;
    }
}
