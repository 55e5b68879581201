package io.github.roost.index.remote;

/**
 * A writer has held its lease for longer than the lease's term, and another has taken over: the change was not made, unless the writer had
 * come so far that only the lease was left to give back. The table goes on: the change can be asked for again.
 */
public final class WriterFencedException extends RemoteMemoryException {
    private static final long serialVersionUID = 1;

    /**
     * Says whose lease it was.
     *
     * @param region name of the region
     * @param token of the writer that was fenced
     */
    public WriterFencedException(String region, long token) {
        super(region, "has another writer: the lease with token " + token + " had ended");
    }
}
