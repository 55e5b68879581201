package io.github.roost.index.remote.pool;

import io.github.roost.index.remote.RemoteMemoryException;

/**
 * Detects a lost memory node by the region's heartbeat and the reader's own clock: a node increments it several times per term, so it is lost if
 * the heartbeat stands still for a term. The time of a beat is when it is first seen, so the heartbeat is read between searches too. A pool that was never served has a term of 0, and its node is never lost. Thread-safe: one immutable
 * state, replaced as a whole; if two threads see a beat at once, either may set its time.
 */
public final class NodeWatch {
    private record Seen(long heartbeat, long nanos) {}

    private final String region;
    private final long termMillis;
    private volatile Seen last;

    NodeWatch(String region, long heartbeat, long termMillis, long nowNanos) {
        this.region = region;
        this.termMillis = termMillis;
        this.last = new Seen(heartbeat, nowNanos);
    }

    /**
     * Records a heartbeat.
     *
     * @param nowNanos a time after it was read
     */
    void look(long heartbeat, long nowNanos) {
        if (last.heartbeat() != heartbeat) {
            last = new Seen(heartbeat, nowNanos);
        }
    }

    /**
     * Records a heartbeat, and throws if it has stood still for too long. A read may be queued, and its answer may wait to be processed; so
     * silence is counted only up to the time when the read was requested.
     *
     * @param requestedNanos when the read was requested
     * @param nowNanos a time after the read was done
     */
    public void require(long heartbeat, long requestedNanos, long nowNanos)
            throws RemoteMemoryException.NodeLostException {
        Seen before = last;
        if (before.heartbeat() != heartbeat) {
            last = new Seen(heartbeat, nowNanos);
            return;
        }
        long silent = (requestedNanos - before.nanos()) / 1_000_000;
        if (termMillis > 0 && silent > termMillis) {
            throw new RemoteMemoryException.NodeLostException(region, silent, termMillis);
        }
    }
}
