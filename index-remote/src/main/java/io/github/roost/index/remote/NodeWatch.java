package io.github.roost.index.remote;

/**
 * Tells from a region's heartbeat whether its memory node is there, by the reader's own clock: a node counts up several times per term,
 * so one that has counted no further for a term is lost. A pool that no node serves has a term of 0 and is never lost. Thread-safe:
 * one immutable state that is replaced as a whole; of two threads that see a beat at once either may say when.
 */
final class NodeWatch {
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
     * Takes note of a heartbeat, and fails where it has stood still for too long. A read may wait long for its turn, and its
     * answer for whoever asked: the heartbeat that it brings stood still at most until the read was asked for.
     *
     * @param askedNanos when the read was asked for
     * @param nowNanos not before the read was done
     */
    void require(long heartbeat, long askedNanos, long nowNanos) throws MemoryNodeLostException {
        Seen before = last;
        if (before.heartbeat() != heartbeat) {
            last = new Seen(heartbeat, nowNanos);
            return;
        }
        long silent = (askedNanos - before.nanos()) / 1_000_000;
        if (termMillis > 0 && silent > termMillis) {
            throw new MemoryNodeLostException(region, silent, termMillis);
        }
    }
}
