package io.github.roost.index.remote;

/** Thrown when the bytes of a partition fail their checks. Such bytes are never searched. */
public final class DamagedPartitionException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    /** Number of the partition. */
    private final int partition;

    /**
     * Makes an exception for a partition.
     *
     * @param region name of the region
     * @param partition number of the partition, from 0
     * @param what the failed check
     */
    public DamagedPartitionException(String region, int partition, String what) {
        super(region, "has a damaged partition " + partition + ": " + what);
        this.partition = partition;
    }

    /** {@return the number of the partition, from 0} */
    public int partition() {
        return partition;
    }
}
