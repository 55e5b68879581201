package io.github.roost.index.remote.ucx;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The region of a node. Thread-safe: callers queue transfers; the worker's thread starts all pieces of each in UCX, and completes the future when
 * all pieces have ended.
 *
 * <p>Why every future is completed: a caller first queues and then checks whether the region has ended; the thread first marks the region as
 * ended and then empties the queue. So at least one of them sees the other, and the one that removes a flight from the queue fails it. Flights
 * that were started are in {@code flying}, which the thread fails at its end.
 *
 * <p>Compare-and-sets use the connection: the node answers in the order of requests. A caller first adds the future and then checks whether the
 * region is over; the thread that ends the region first marks it and then fails all waiting futures. So every future is completed.
 *
 * <p>Why no memory is written after its owner has it back: a future fails only when all its pieces have ended, or when the worker is closed or
 * never driven again. A caller that gives up earlier, by a timeout, must leave the memory alone until the region is closed; until then the flight
 * keeps memory of automatic arenas reachable.
 */
final class UcxRegion implements RemoteMemory.Region, UcxWorkerThread.Work {
    private static final Logger LOG = LoggerFactory.getLogger(UcxRegion.class);
    private static final long MAX_CLOSING_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long MAX_LANDING_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** Padding behind a key: UCX reads a key without knowing its length. */
    private static final int ZEROS = 4_096;

    /** Status codes of UCX for a lost peer: unreachable, not connected, connection reset, timed out. */
    private static final Set<Integer> GONE = Set.of(-6, -24, -25, -80);

    private final String name;
    private final Hello node;
    private final Socket connection;
    private final ConcurrentLinkedQueue<Flight> submitted = new ConcurrentLinkedQueue<>();
    /**
     * Compare-and-sets without an answer, in the order of requests; a future is added in the same block, synchronized on the connection, that
     * writes its request.
     */
    private final ConcurrentLinkedQueue<CompletableFuture<Long>> swapping = new ConcurrentLinkedQueue<>();
    /** The reason why nothing is transferred any more; set once, by the first thread that finds one. */
    private volatile @Nullable RemoteMemoryException over;

    private volatile boolean ended;
    private @Nullable UcxWorkerThread thread;

    // Used by the worker's thread only.
    private @Nullable UcpEndpoint endpoint;
    private @Nullable UcpRemoteKey key;
    private boolean toldOfFailures;
    private final Set<Flight> flying = new HashSet<>();
    private final ArrayDeque<Flight> landed = new ArrayDeque<>();

    private UcxRegion(String name, Hello node, Socket connection) {
        this.name = name;
        this.node = node;
        this.connection = connection;
    }

    static UcxRegion open(
            String name, InetSocketAddress address, String transports, Socket connection, Hello node, Duration timeout)
            throws RemoteMemoryException {
        UcxRegion region = new UcxRegion(name, node, connection);
        region.thread = UcxWorkerThread.start(name, address, transports, region);
        Thread.ofVirtual().name("roost-watch-" + name).start(region::watch);
        boolean reached = false;
        try {
            region.reach(timeout);
            reached = true;
            return region;
        } finally {
            if (!reached) {
                region.close();
            }
        }
    }

    /**
     * Reads one byte. UCX connects on the first read, and at the node UCX 1.13 aborts the process if the peer disconnects before the connection
     * is complete. So no region is closed or returned before that.
     */
    private void reach(Duration timeout) throws RemoteMemoryException {
        CompletableFuture<Void> first =
                get(List.of(new Transfer(0, Arena.ofAuto().allocate(1))));
        try {
            first.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RemoteMemoryException named
                    ? named
                    : new RemoteMemoryException(name, "cannot be read", failed.getCause());
        } catch (TimeoutException late) {
            throw new RemoteMemoryException(
                    name, "does not answer: nothing could be read within " + timeout.toMillis() + " ms", late);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RemoteMemoryException(name, "was not waited for: the thread was interrupted", e);
        }
    }

    /** A get or a put of several pieces. Its fields belong to the worker's thread. */
    private final class Flight {
        private final boolean writes;
        private final List<Transfer> transfers;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private int left;
        private @Nullable RemoteMemoryException failure;

        Flight(boolean writes, List<Transfer> transfers) {
            this.writes = writes;
            this.transfers = transfers;
            // The pieces of a put end when they have left this process; the flush ends when they are in the region.
            this.left = transfers.size() + (writes ? 1 : 0);
        }

        void ended(@Nullable RemoteMemoryException why) {
            failure = failure == null ? why : failure;
            if (--left == 0) {
                landed.add(this);
            }
        }
    }

    /** One piece of a flight. UCX reports its outcome by callback, but may throw as well; only the first report counts. */
    private final class Piece extends UcxCallback {
        private final Flight flight;
        private boolean ended;

        Piece(Flight flight) {
            this.flight = flight;
        }

        @Override
        public void onSuccess(UcpRequest request) {
            end(null);
        }

        @Override
        public void onError(int status, String text) {
            end(failed(status, text));
        }

        void end(@Nullable RemoteMemoryException why) {
            if (!ended) {
                ended = true;
                flight.ended(why);
            }
        }
    }

    private RemoteMemoryException failed(int status, @Nullable String text) {
        if (GONE.contains(status)) {
            lose("UCX says: " + text);
            return requireOver();
        }
        return new RemoteMemoryException(name, "could not be read or written: UCX says: " + text + " (" + status + ")");
    }

    /** Marks the node as lost; only the first reason counts. */
    private void lose(String why) {
        end(new RemoteMemoryException.NodeLostException(name, why));
    }

    private synchronized void end(RemoteMemoryException why) {
        if (over == null) {
            over = why;
        }
    }

    private RemoteMemoryException requireOver() {
        RemoteMemoryException why = over;
        return why == null ? new RemoteMemoryException(name, "is closed") : why;
    }

    /** Completes compare-and-sets as their answers arrive. On every transport the connection ends with the node's process. */
    private void watch() {
        String why = "it has closed the connection";
        try {
            DataInputStream answers = new DataInputStream(connection.getInputStream());
            while (true) {
                boolean done = answers.readBoolean();
                long found = answers.readLong();
                CompletableFuture<Long> first = swapping.poll();
                if (first == null) {
                    why = "it sent an answer without a request";
                    break;
                }
                if (done) {
                    first.complete(found);
                } else {
                    first.completeExceptionally(new RemoteMemoryException(name, "has no word there, says its node"));
                }
            }
        } catch (EOFException ended) {
            // The initial reason applies.
        } catch (IOException broken) {
            why = "the connection broke: " + broken.getMessage();
        }
        lose(why);
        wake();
        failSwapping();
    }

    private void failSwapping() {
        for (CompletableFuture<Long> one = swapping.poll(); one != null; one = swapping.poll()) {
            one.completeExceptionally(requireOver());
        }
    }

    private void wake() {
        UcxWorkerThread running = thread;
        if (running != null) {
            running.wake();
        }
    }

    @Override
    public void begin(UcpContext context, UcpWorker worker) {
        ByteBuffer address = direct(node.worker());
        UcpEndpoint made;
        try {
            made = worker.newEndpoint(new UcpEndpointParams()
                    .setUcpAddress(address)
                    .setPeerErrorHandlingMode()
                    .setErrorHandler((failed, status, text) -> lose("UCX says: " + text)));
            toldOfFailures = true;
        } catch (UcxException none) {
            // Shared memory does not report a lost peer; the connection does.
            made = worker.newEndpoint(new UcpEndpointParams().setUcpAddress(address));
        }
        endpoint = made;
        key = made.unpackRemoteKey(direct(node.key()));
    }

    private static ByteBuffer direct(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length + ZEROS);
        return buffer.put(0, bytes);
    }

    @Override
    public boolean step() {
        if (over != null) {
            return false;
        }
        for (Flight flight = submitted.poll(); flight != null; flight = submitted.poll()) {
            flying.add(flight);
            take(flight);
        }
        // A piece may complete at once.
        progressed();
        return over == null;
    }

    private void take(Flight flight) {
        UcpEndpoint to = endpoint;
        UcpRemoteKey with = key;
        if (to == null || with == null) {
            throw new IllegalStateException("begun without an endpoint");
        }
        for (Transfer transfer : flight.transfers) {
            Piece piece = new Piece(flight);
            if (!transfer.local().scope().isAlive()) {
                piece.end(new RemoteMemoryException(
                        name, "was to be read or written by memory that had been freed by then"));
                continue;
            }
            try {
                long remote = node.address() + transfer.offset();
                long local = transfer.local().address();
                long bytes = transfer.local().byteSize();
                if (flight.writes) {
                    to.putNonBlocking(local, bytes, remote, with, piece);
                } else {
                    to.getNonBlocking(remote, with, local, bytes, piece);
                }
            } catch (UcxException refused) {
                piece.end(failed(refused.getStatus(), refused.getMessage()));
            }
        }
        if (flight.writes) {
            Piece flush = new Piece(flight);
            try {
                to.flushNonBlocking(flush);
            } catch (UcxException refused) {
                flush.end(failed(refused.getStatus(), refused.getMessage()));
            }
        }
    }

    /** {@inheritDoc} Completes futures here, not in UCX's callbacks, which cannot propagate exceptions. */
    @Override
    public void progressed() {
        for (Flight flight = landed.poll(); flight != null; flight = landed.poll()) {
            flying.remove(flight);
            complete(flight, flight.failure);
        }
    }

    private static void complete(Flight flight, @Nullable RemoteMemoryException failure) {
        if (failure == null) {
            flight.done.complete(null);
        } else {
            flight.done.completeExceptionally(failure);
        }
    }

    @Override
    public boolean end(UcpWorker worker, @Nullable Throwable failure) {
        if (failure != null) {
            lose("UCX failed: " + failure.getMessage());
        }
        UcpEndpoint open = endpoint;
        if (open == null) {
            return true;
        }
        try {
            land(worker);
            if (key != null) {
                key.close();
            }
            UcpRequest closing = toldOfFailures ? open.closeNonBlockingForce() : open.closeNonBlockingFlush();
            long until = System.nanoTime() + MAX_CLOSING_NANOS;
            while (!closing.isCompleted() && System.nanoTime() < until) {
                worker.progress();
            }
            if (closing.isCompleted()) {
                return true;
            }
        } catch (Exception e) {
            LOG.debug("the endpoint of {} did not close", name, e);
        }
        LOG.warn("{} did not answer while it was closed: its UCX resources in this process are leaked", name);
        return false;
    }

    /**
     * Waits for the flights in progress. Over TCP the node answers a get in software, by a request whose data type UCX leaves uninitialized. If
     * the endpoint closes while such an answer is queued, UCX frees what that memory seems to name, and the node's process dies.
     */
    private void land(UcpWorker worker) {
        long until = System.nanoTime() + MAX_LANDING_NANOS;
        try {
            while (!flying.isEmpty()
                    && !(over instanceof RemoteMemoryException.NodeLostException)
                    && System.nanoTime() < until) {
                worker.progress();
                progressed();
            }
        } catch (Exception failed) {
            lose("UCX failed: " + failed.getMessage());
        }
    }

    @Override
    public void ended() {
        end(new RemoteMemoryException(name, "is closed"));
        RemoteMemoryException why = requireOver();
        ended = true;
        List<Flight> left = new ArrayList<>(flying);
        flying.clear();
        landed.clear();
        // Fails flights that have landed by now, too: nothing needs them.
        left.forEach(flight -> complete(flight, why));
        failAsked();
    }

    private void failAsked() {
        for (Flight flight = submitted.poll(); flight != null; flight = submitted.poll()) {
            complete(flight, requireOver());
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long bytes() {
        return node.bytes();
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public CompletableFuture<Void> get(List<Transfer> transfers) {
        return transfer(false, transfers);
    }

    @Override
    public CompletableFuture<Void> put(List<Transfer> transfers) {
        return transfer(true, transfers);
    }

    private CompletableFuture<Void> transfer(boolean writes, List<Transfer> transfers) {
        List<Transfer> pieces = new ArrayList<>(transfers.size());
        for (Transfer transfer : transfers) {
            long length = transfer.local().byteSize();
            if (transfer.offset() < 0 || length > bytes() || transfer.offset() > bytes() - length) {
                return CompletableFuture.failedFuture(outside(transfer.offset(), length));
            }
            if (!transfer.local().isNative() || (!writes && transfer.local().isReadOnly())) {
                return CompletableFuture.failedFuture(new RemoteMemoryException(
                        name, "is read into native memory that can be written, and written from native memory"));
            }
            if (length > 0) {
                pieces.add(transfer);
            }
        }
        if (pieces.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        Flight flight = new Flight(writes, pieces);
        submitted.add(flight);
        if (ended) {
            failAsked();
        } else {
            wake();
        }
        return flight.done;
    }

    private RemoteMemoryException outside(long offset, long length) {
        return new RemoteMemoryException(name, "has " + bytes() + " bytes, asked for " + length + " at " + offset);
    }

    /** {@inheritDoc} Sends it to the node over the TCP connection; takes about as long as a small get over TCP. */
    @Override
    public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
        if (!SharedWords.isWord(bytes(), offset)) {
            return CompletableFuture.failedFuture(outside(offset, Long.BYTES));
        }
        byte[] request = ByteBuffer.allocate(SharedWords.REQUEST_BYTES)
                .putLong(offset)
                .putLong(expected)
                .putLong(next)
                .array();
        CompletableFuture<Long> swapped = new CompletableFuture<>();
        synchronized (connection) {
            swapping.add(swapped);
            try {
                connection.getOutputStream().write(request);
            } catch (IOException broken) {
                // The connection takes no more requests; its end fails the waiting futures too.
                lose("the connection broke: " + broken.getMessage());
                wake();
            }
        }
        if (over != null) {
            failSwapping();
        }
        return swapped;
    }

    @Override
    public void close() {
        end(new RemoteMemoryException(name, "is closed"));
        try {
            connection.close();
        } catch (IOException e) {
            LOG.debug("the connection to {} did not close in order", name, e);
        }
        failSwapping();
        UcxWorkerThread running = thread;
        if (running != null) {
            running.wake();
            running.join();
        }
    }
}
