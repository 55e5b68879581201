package io.github.roost.index.remote.update;

import io.github.roost.index.remote.RemoteMemoryException;

/** Thrown when the gap of a pair of partitions has no slot for a change; the pair must be rebuilt. Nothing was changed. */
public final class PartitionLogFullException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    /** Number of the partition. */
    private final int partition;

    /**
     * Makes an exception for a partition.
     *
     * @param region name of the region
     * @param partition number of the partition, from 0
     * @param slots number of slots in the gap that the partition shares with its neighbor
     */
    public PartitionLogFullException(String region, int partition, int slots) {
        super(
                region,
                "has a full log of partition " + partition + ": the " + slots
                        + " slots of its pair are taken; the pair must be rebuilt");
        this.partition = partition;
    }

    /** {@return the number of the partition, from 0} */
    public int partition() {
        return partition;
    }
}
