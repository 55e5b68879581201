package io.github.roost.index.remote.ucx;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;

/**
 * A provider of the regions of {@link UcxNode nodes} over UCX: by RDMA if both sides have a network card for it, without the node's processor;
 * otherwise by TCP or shared memory, where a thread of the node answers. Thread-safe.
 *
 * <p>Compare-and-sets are done by the node's processor, so they are atomic with those of processes that have mapped its file. Each region has a
 * thread, which waits in UCX, and a connection to the node. When the connection breaks, for example because the node's process has ended, all
 * transfers in progress and all later ones fail with a {@link io.github.roost.index.remote.RemoteMemoryException.NodeLostException}, and the region must be
 * opened again. UCX does not check what a node sends: open only regions of nodes that you trust, in networks that you trust.
 */
public final class UcxMemory implements RemoteMemory {
    private static final Duration CONNECT = Duration.ofSeconds(5);

    private final String transports;

    /** Makes a provider over the transports that UCX selects, or that the environment's {@code UCX_TLS} names. */
    public UcxMemory() {
        this("");
    }

    /**
     * Makes a provider over given transports.
     *
     * @param transports UCX's names, separated by commas: {@code tcp}, {@code posix}, {@code rc}; empty lets UCX select
     */
    public UcxMemory(String transports) {
        this.transports = transports;
    }

    /** {@return the reason why UCX cannot be used in this process; empty if it can} */
    public static Optional<String> unavailable() {
        return Optional.ofNullable(UcxLibrary.unavailable());
    }

    /**
     * {@inheritDoc}
     *
     * @param region {@code ucx://HOST:PORT}, see {@link UcxNode#address}
     * @throws RemoteMemoryException if UCX cannot be used, or no node answers within five seconds
     * @throws IllegalArgumentException if the name is not of that form
     */
    @Override
    public RemoteMemory.Region open(String region) throws IOException {
        UcxAddress address = UcxAddress.parse(region);
        String name = address.toString();
        UcxLibrary.require(name);
        InetSocketAddress node = address.resolve();
        Socket connection = new Socket();
        boolean opened = false;
        try {
            int timeout = Math.toIntExact(CONNECT.toMillis());
            connection.connect(node, timeout);
            connection.setSoTimeout(timeout);
            Hello hello = Hello.read(name, connection.getInputStream());
            connection.setSoTimeout(0);
            connection.setKeepAlive(true);
            RemoteMemory.Region made = UcxRegion.open(name, node, transports, connection, hello, CONNECT);
            opened = true;
            return made;
        } catch (RemoteMemoryException named) {
            throw named;
        } catch (IOException failed) {
            throw new RemoteMemoryException(name, "cannot be reached: " + failed.getMessage(), failed);
        } finally {
            if (!opened) {
                connection.close();
            }
        }
    }

    @Override
    public void close() {
        // Each region has its own thread and connection.
    }
}
