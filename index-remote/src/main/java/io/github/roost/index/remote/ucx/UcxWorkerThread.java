package io.github.roost.index.remote.ucx;

import io.github.roost.index.remote.RemoteMemoryException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * A UCX worker and its thread, the only one that uses it from creation to close; other threads may only {@link #wake} it. The thread sleeps while
 * UCX has nothing to do. A wake is never lost: UCX remembers it, and the next sleep returns at once.
 */
final class UcxWorkerThread implements Runnable {
    /** The thread's work; all methods are called on the thread. */
    interface Work {
        /** Begins to use the worker. */
        void begin(UcpContext context, UcpWorker worker) throws RemoteMemoryException;

        /** Starts the requests queued since the last call; false ends the thread. */
        boolean step();

        /** Handles completions, after UCX has made progress. */
        void progressed();

        /**
         * Releases all resources of the worker, which is closed next.
         *
         * @param failure UCX's failure that ended the thread, or null
         * @return whether nothing is in progress any more; if false, the worker is left open
         */
        boolean end(UcpWorker worker, @Nullable Throwable failure);

        /** The worker is closed, or is never driven again: UCX touches no memory from now on. */
        void ended();
    }

    private final InetSocketAddress address;
    private final String transports;
    private final Work work;
    private final Thread thread;
    private final CompletableFuture<Void> begun = new CompletableFuture<>();
    /** The worker while it can be woken; guarded by this object. */
    private @Nullable UcpWorker awake;

    private UcxWorkerThread(String region, InetSocketAddress address, String transports, Work work) {
        this.address = address;
        this.transports = transports;
        this.work = work;
        this.thread = Thread.ofPlatform()
                .daemon()
                .inheritInheritableThreadLocals(false)
                .name("roost-" + region)
                .unstarted(this);
    }

    /**
     * Starts a thread and waits until its work has begun.
     *
     * @param region its name, for error messages
     * @param address of the node
     * @param transports UCX's names, separated by commas; empty lets UCX select
     */
    static UcxWorkerThread start(String region, InetSocketAddress address, String transports, Work work)
            throws RemoteMemoryException {
        UcxWorkerThread started = new UcxWorkerThread(region, address, transports, work);
        started.thread.start();
        try {
            started.begun.join();
        } catch (CompletionException failed) {
            started.join();
            if (failed.getCause() instanceof RemoteMemoryException named) {
                throw named;
            }
            throw new RemoteMemoryException(region, "cannot be reached over ucx: " + failed.getCause(), failed);
        }
        return started;
    }

    private UcpParams parameters() throws SocketException {
        UcpParams parameters = new UcpParams().requestRmaFeature().requestWakeupFeature();
        if (!transports.isEmpty()) {
            parameters.setConfig("TLS", transports);
        }
        if (address.getAddress().isLoopbackAddress() && System.getenv("UCX_NET_DEVICES") == null) {
            // UCX opens ports of its own: keep them off other networks.
            NetworkInterface device = NetworkInterface.getByInetAddress(address.getAddress());
            if (device != null) {
                parameters.setConfig("NET_DEVICES", device.getName());
            }
        }
        return parameters;
    }

    @Override
    public void run() {
        try {
            UcpContext context = new UcpContext(parameters());
            if (use(context)) {
                context.close();
            }
        } catch (RemoteMemoryException | SocketException | UcxException failed) {
            begun.completeExceptionally(failed);
        } catch (Throwable failed) {
            begun.completeExceptionally(failed);
            throw failed;
        } finally {
            work.ended();
        }
    }

    /** Returns whether the worker was closed. UCX aborts the process if a worker is closed with requests in progress. */
    private boolean use(UcpContext context) throws RemoteMemoryException {
        UcpWorker worker = context.newWorker(
                new UcpWorkerParams().requestWakeupRMA().requestWakeupRX().requestWakeupTX());
        boolean closes = true;
        try {
            work.begin(context, worker);
            closes = serve(worker);
        } finally {
            if (closes) {
                worker.close();
            }
        }
        return closes;
    }

    private boolean serve(UcpWorker worker) {
        mayBeWoken(worker);
        begun.complete(null);
        Throwable failure = null;
        try {
            while (work.step()) {
                int events = worker.progress();
                work.progressed();
                if (events == 0) {
                    worker.waitForEvents();
                }
            }
        } catch (Exception failed) {
            failure = failed;
        }
        mayBeWoken(null);
        return work.end(worker, failure);
    }

    private synchronized void mayBeWoken(@Nullable UcpWorker worker) {
        awake = worker;
    }

    /** Makes the thread call {@link Work#step} soon; does nothing after the thread has ended. */
    synchronized void wake() {
        if (awake != null) {
            awake.signal();
        }
    }

    /** Waits for the end of the thread; returns at once when called on it. */
    void join() {
        boolean interrupted = false;
        while (thread.isAlive() && Thread.currentThread() != thread) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
