package io.github.roost.index.remote;

/** Thrown when the memory node has not renewed its heartbeat for its term, or cannot be reached any more: its memory may be gone or out of date. */
public final class MemoryNodeLostException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    /**
     * Reports a heartbeat that has stopped.
     *
     * @param region name of the region
     * @param silentMillis time without a new heartbeat, in milliseconds
     * @param termMillis the node's term: time without a heartbeat after which it counts as lost, in milliseconds
     */
    public MemoryNodeLostException(String region, long silentMillis, long termMillis) {
        super(
                region,
                "has lost its memory node: no heartbeat for " + silentMillis + " ms, where one must come every "
                        + termMillis + " ms");
    }

    /**
     * Reports a loss seen by other means than the heartbeat.
     *
     * @param region name of the region
     * @param why the evidence, continuing the message after a colon
     */
    public MemoryNodeLostException(String region, String why) {
        super(region, "has lost its memory node: " + why);
    }
}
