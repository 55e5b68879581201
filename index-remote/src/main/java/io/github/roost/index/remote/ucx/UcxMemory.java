package io.github.roost.index.remote.ucx;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.RemoteRegion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;

/**
 * Regions of nodes that are reached over UCX: by RDMA where both have a network card for it, which asks no processor of the node, else by
 * TCP or shared memory, where a thread of the node answers. A region is the pool of a {@link UcxNode}. Thread-safe.
 *
 * <p>Compare-and-sets are done by the node's processor, on the same words as those of processes that have mapped its file. A region has a thread of its own, which waits in UCX, and a connection to the node: when that breaks, as
 * where the node's process has ended, all that is under way and all that comes later fails with a {@link
 * io.github.roost.index.remote.MemoryNodeLostException}, and the region is to be opened anew. UCX itself believes what a node says: open
 * regions of nodes that you trust, in networks that you trust.
 */
public final class UcxMemory implements RemoteMemory {
    private static final Duration CONNECT = Duration.ofSeconds(5);

    private final String transports;

    /** Regions over the transports that UCX takes for the best, or that the environment's {@code UCX_TLS} names. */
    public UcxMemory() {
        this("");
    }

    /**
     * Regions over given transports.
     *
     * @param transports as UCX names them, separated by commas: {@code tcp}, {@code posix}, {@code rc}; empty for those that UCX takes for the
     *     best
     */
    public UcxMemory(String transports) {
        this.transports = transports;
    }

    /** {@return why UCX cannot be used in this process; empty where it can} */
    public static Optional<String> unavailable() {
        return Optional.ofNullable(UcxLibrary.unavailable());
    }

    @Override
    public String name() {
        return "ucx";
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(false, true);
    }

    /**
     * {@inheritDoc}
     *
     * @param region {@code ucx://HOST:PORT}, as its node says
     * @throws RemoteMemoryException if UCX cannot be used, or there is no node that answers within five seconds
     * @throws IllegalArgumentException if the name is not of that form
     */
    @Override
    public RemoteRegion open(String region) throws IOException {
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
            RemoteRegion made = UcxRegion.open(name, node, transports, connection, hello, CONNECT);
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
