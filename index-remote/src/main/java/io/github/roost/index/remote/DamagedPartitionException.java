package io.github.roost.index.remote;

/** The bytes of a partition are not those that were written: they are never searched. */
public final class DamagedPartitionException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    /** Number of the partition. */
    private final int partition;

    /**
     * Says what is wrong with which partition.
     *
     * @param region name of the region
     * @param partition number of the partition, from 0
     * @param what is wrong with it
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
