package io.github.roost.index.hnsw;

import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.TableClosedException;
import io.github.roost.topology.ProcessMaskThreadFactory;
import java.util.concurrent.ThreadFactory;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a step repeatedly in a background thread until the step finds nothing to do. The thread exists only while there is
 * work: an idle table has none. Thread-safe; all fields are guarded by this object.
 */
final class BackgroundFreeze implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundFreeze.class);

    private final ThreadFactory threads;
    private final String name;
    private final BooleanSupplier step;
    private long requested;
    private long done;
    private boolean running;
    private boolean closed;
    private @Nullable Throwable failure;

    /** @param step does one piece of work that is due; returns false if there is none */
    BackgroundFreeze(String name, BooleanSupplier step) {
        this.name = name;
        this.step = step;
        this.threads = new ProcessMaskThreadFactory(
                Thread.ofPlatform().daemon().name("roost-freeze-" + name).factory());
    }

    /** Starts everything that is due now. A failure is reported to {@link #await}, not to the caller of this method. */
    @SuppressWarnings("IllegalCatch") // the change succeeds even if its rows cannot be frozen yet
    synchronized void request() {
        requested++;
        if (!running && !closed) {
            running = true;
            try {
                threads.newThread(this::run).start();
            } catch (Throwable e) {
                running = false;
                served(requested, e);
                warn(e);
            }
        }
    }

    @SuppressWarnings("IllegalCatch") // waiting threads must be notified of any failure
    private void run() {
        // Only the step may throw: if the thread died elsewhere, running would stay true and no thread would ever start
        // again.
        for (long serving = next(); serving > 0; serving = next()) {
            Throwable failed = null;
            try {
                boolean more = true;
                while (more && !isClosed()) {
                    more = step.getAsBoolean();
                }
            } catch (Throwable e) {
                failed = e;
            }
            served(serving, failed);
            if (failed != null && !isClosed()) {
                warn(failed);
            }
        }
    }

    /** The request to serve next, or 0 to end. */
    private synchronized long next() {
        running = requested > done && !closed;
        return running ? requested : 0;
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private synchronized void served(long request, @Nullable Throwable failed) {
        done = request;
        failure = failed;
        notifyAll();
    }

    /** Waiting threads have been notified already, so an error while logging (out of memory) can be ignored. */
    @SuppressWarnings({"IllegalCatch", "EmptyCatch"})
    private void warn(Throwable failed) {
        try {
            if (!isOfClosedOrchestrator(failed)) {
                LOG.warn(
                        "Rows of table {} cannot be frozen, they are searched one by one: {}", name, failed.toString());
            }
        } catch (Throwable unheard) {
            // Ignored, see the method's comment.
        }
    }

    /** Whether the failure is only that the orchestrator was closed; then the table is not searched any more. */
    private static boolean isOfClosedOrchestrator(Throwable failed) {
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            if (cause instanceof OrchestratorClosedException) {
                return true;
            }
        }
        return false;
    }

    /**
     * Waits until all requests so far have been served.
     *
     * @throws IllegalStateException if the work failed; a {@link TableClosedException} if this was closed meanwhile
     */
    synchronized void await() throws InterruptedException {
        long last = requested;
        while (done < last && !closed) {
            wait();
        }
        if (closed) {
            throw new TableClosedException(name);
        }
        if (failure != null) {
            throw new IllegalStateException("table " + name + " cannot be frozen", failure);
        }
    }

    /** Prevents further steps; does not wait for a running step. */
    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}
