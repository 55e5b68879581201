package io.github.roost.index.remote;

/**
 * The memory node has not renewed its heartbeat for longer than its term, or cannot be reached any more: what it holds may be gone or out of
 * date.
 */
public final class MemoryNodeLostException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    /**
     * Says since when.
     *
     * @param region name of the region
     * @param silentMillis for how long the heartbeat has stood still, in milliseconds
     * @param termMillis after how long that means that the node is lost, in milliseconds
     */
    public MemoryNodeLostException(String region, long silentMillis, long termMillis) {
        super(
                region,
                "has lost its memory node: no heartbeat for " + silentMillis + " ms, where one must come every "
                        + termMillis + " ms");
    }

    /**
     * Says how that shows.
     *
     * @param region name of the region
     * @param why what tells that the node is lost
     */
    public MemoryNodeLostException(String region, String why) {
        super(region, "has lost its memory node: " + why);
    }
}
