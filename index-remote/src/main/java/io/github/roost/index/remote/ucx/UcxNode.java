package io.github.roost.index.remote.ucx;

import io.github.roost.index.remote.RemoteMemoryException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpMemMapParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpWorker;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exposes the file of a pool to other processes over UCX; they open it by {@link UcxMemory}. The file is mapped, so processes of this host may
 * read and change it by {@link io.github.roost.index.remote.RemoteMemory#mapped} at the same time; a {@link io.github.roost.index.remote.MemoryNode} for
 * the same file gives it a heartbeat. Over RDMA other processes read it without this process; over TCP and shared memory a thread of this object
 * answers. Thread-safe.
 *
 * <p>Where a thread answers, UCX checks no bounds: every process that can reach the node can read and write all memory of its process. Listen on
 * a loopback address, or in a network whose hosts are all trusted.
 */
public final class UcxNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UcxNode.class);
    /** Each keeps a descriptor, of which a process has a thousand or more. */
    private static final int MAX_CONNECTIONS = 512;

    private static final long PAUSE_NANOS = 100_000_000;

    private final UcxAddress address;
    private final ServerSocket listening;
    private final Exposed exposed;
    private final UcxWorkerThread thread;
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    private UcxNode(UcxAddress address, ServerSocket listening, Exposed exposed, UcxWorkerThread thread) {
        this.address = address;
        this.listening = listening;
        this.exposed = exposed;
        this.thread = thread;
    }

    /**
     * Exposes a file until the node is closed, over the transports that UCX selects or that the environment's {@code UCX_TLS} names.
     *
     * @param pool the file; it must not become shorter meanwhile
     * @param address {@code ucx://HOST:PORT}; port 0 takes a free one
     * @return the listening node
     * @throws IOException if UCX cannot be used, the file cannot be mapped, or the address cannot be listened on
     * @throws IllegalArgumentException if the address is not of that form
     */
    public static UcxNode serve(Path pool, String address) throws IOException {
        return serve(pool, address, "");
    }

    /**
     * Exposes a file over given transports until the node is closed.
     *
     * @param pool the file; it must not become shorter meanwhile
     * @param address {@code ucx://HOST:PORT}; port 0 takes a free one
     * @param transports UCX's names, separated by commas; empty lets UCX select
     * @return the listening node
     * @throws IOException if UCX cannot be used, the file cannot be mapped, or the address cannot be listened on
     * @throws IllegalArgumentException if the address is not of that form
     */
    public static UcxNode serve(Path pool, String address, String transports) throws IOException {
        UcxAddress requested = UcxAddress.parse(address);
        UcxLibrary.require(requested.toString());
        InetSocketAddress at = requested.resolve();
        ServerSocket listening = new ServerSocket();
        Exposed exposed = null;
        boolean serving = false;
        try {
            try {
                listening.bind(at);
            } catch (IOException taken) {
                throw new RemoteMemoryException(
                        requested.toString(), "cannot be listened on: " + taken.getMessage(), taken);
            }
            UcxAddress name = new UcxAddress(requested.host(), listening.getLocalPort());
            exposed = new Exposed(map(pool));
            UcxWorkerThread thread = UcxWorkerThread.start(name.toString(), at, transports, exposed);
            UcxNode node = new UcxNode(name, listening, exposed, thread);
            Thread.ofVirtual().name("roost-listen-" + name).start(node::listen);
            serving = true;
            return node;
        } finally {
            if (!serving) {
                listening.close();
            }
        }
    }

    /** Maps the file; it is unmapped when the segment becomes unreachable. */
    private static MemorySegment map(Path pool) throws IOException {
        try (FileChannel channel = FileChannel.open(pool, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (channel.size() == 0) {
                throw new RemoteMemoryException(pool.toString(), "is empty");
            }
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), Arena.ofAuto());
        }
    }

    /** The memory, registered with UCX. Its fields are written by the worker's thread before other threads see it. */
    private static final class Exposed implements UcxWorkerThread.Work {
        private final MemorySegment memory;
        private volatile boolean closing;
        private volatile @Nullable Hello hello;
        private @Nullable UcpMemory registered;

        Exposed(MemorySegment memory) {
            this.memory = memory;
        }

        @Override
        public void begin(UcpContext context, UcpWorker worker) {
            UcpMemory made = context.memoryMap(
                    new UcpMemMapParams().setAddress(memory.address()).setLength(memory.byteSize()));
            registered = made;
            hello = new Hello(
                    memory.byteSize(), memory.address(), bytes(made.getRemoteKeyBuffer()), bytes(worker.getAddress()));
        }

        private static byte[] bytes(ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return bytes;
        }

        SharedWords words() {
            return new SharedWords(memory);
        }

        Hello hello() {
            Hello made = hello;
            if (made == null) {
                throw new IllegalStateException("begun without memory");
            }
            return made;
        }

        @Override
        public boolean step() {
            return !closing;
        }

        @Override
        public void progressed() {
            // UCX answers by itself.
        }

        @Override
        public boolean end(UcpWorker worker, @Nullable Throwable failure) {
            if (failure != null) {
                LOG.warn("UCX failed, the pool is served no longer: {}", failure.getMessage());
            }
            if (registered != null) {
                registered.deregister();
            }
            return true;
        }

        @Override
        public void ended() {
            closing = true;
        }
    }

    private void listen() {
        while (!closed) {
            try {
                Socket connection = listening.accept();
                if (connections.size() >= MAX_CONNECTIONS) {
                    LOG.warn("{} has {} connections, and takes no more until some end", address, MAX_CONNECTIONS);
                    connection.close();
                    continue;
                }
                connections.add(connection);
                Thread.ofVirtual().name("roost-reader-of-" + address).start(() -> greet(connection));
            } catch (IOException failed) {
                // Such as no descriptor left: there may be one again.
                if (!closed) {
                    LOG.warn("{} could not take a connection: {}", address, failed.getMessage());
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        }
    }

    /**
     * Sends the handshake, then answers compare-and-sets until the connection ends. The open connection shows the other side that this process is
     * alive.
     */
    private void greet(Socket connection) {
        try (connection) {
            connection.setKeepAlive(true);
            connection.setTcpNoDelay(true);
            if (!closed) {
                exposed.hello().write(connection.getOutputStream());
                exposed.words().answer(connection.getInputStream(), connection.getOutputStream());
            }
        } catch (IOException broken) {
            LOG.debug("a connection to {} broke", address, broken);
        } finally {
            connections.remove(connection);
        }
    }

    /** {@return the node's address, {@code ucx://HOST:PORT}, with the port that it listens on} */
    public String address() {
        return address.toString();
    }

    /** Closes all connections: regions in other processes fail at once. A second call does nothing. */
    @Override
    public void close() throws IOException {
        closed = true;
        listening.close();
        for (Socket connection : connections) {
            connection.close();
        }
        exposed.closing = true;
        thread.wake();
        thread.join();
    }
}
