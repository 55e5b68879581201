package io.github.roost.index.remote;

/**
 * Thrown when a writer has held its lease for longer than the lease's term and another writer has taken over. The change was not made, unless the
 * writer was fenced off after it had published its records. The table stays usable: the change can be retried.
 */
public final class WriterFencedException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    /**
     * Makes an exception for a writer.
     *
     * @param region name of the region
     * @param token fencing token of the writer that was fenced off
     */
    public WriterFencedException(String region, long token) {
        super(region, "has another writer: the lease with token " + token + " had ended");
    }
}
