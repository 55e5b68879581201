package io.github.roost.index.remote;

import java.io.IOException;

/**
 * A provider of remote memory: a set of regions in other processes or machines. Where the hardware can, reads and writes do not involve the
 * owner's processor (one-sided). Thread-safe.
 */
public interface RemoteMemory extends AutoCloseable {
    /** {@return the provider's name, such as {@code mapped}} */
    String name();

    /** {@return the provider's properties} */
    Capabilities capabilities();

    /**
     * Opens a region.
     *
     * @param region its name at the provider
     * @return the region, to be closed
     * @throws IOException if there is no region of that name, or it cannot be reached
     */
    RemoteRegion open(String region) throws IOException;

    /** Closes the provider; its regions must be closed first. */
    @Override
    void close();

    /**
     * Properties of a provider.
     *
     * @param oneSided whether reads and writes need no processor of the owner: they succeed while the owner's process is stopped
     * @param noticesFailure whether transfers fail after the owner's process has ended; if not, only the heartbeat in the region shows it
     */
    record Capabilities(boolean oneSided, boolean noticesFailure) {}
}
