package io.github.roost.index.remote;

import java.io.IOException;

/**
 * Memory of other processes or machines, as a provider reaches it: a pool of regions that are read and written without the help of
 * their owner where the hardware can (one-sided). Thread-safe.
 */
public interface RemoteMemory extends AutoCloseable {
    /** {@return the provider's name, such as {@code mapped}} */
    String name();

    /** {@return what the provider can do} */
    Capabilities capabilities();

    /**
     * Opens a region.
     *
     * @param region its name at the provider
     * @return the region, to be closed
     * @throws IOException if there is none of that name, or it cannot be reached
     */
    RemoteRegion open(String region) throws IOException;

    /** Closes the provider; its regions must be closed before. */
    @Override
    void close();

    /**
     * What a provider can do.
     *
     * @param oneSided whether reads and writes need no processor at the owner: they succeed while the owner's process is stopped
     * @param noticesFailure whether transfers fail when the owner's process has ended; where not, only the heartbeat in the region
     *     tells
     */
    record Capabilities(boolean oneSided, boolean noticesFailure) {}
}
