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
 * Takes a step again and again, in a thread of its own, as long as it is asked to and the step finds something to do. The
 * thread lives only while there is work: a table that rests has none. Thread-safe; all fields are guarded by this object.
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

    /** @param step does one thing that is due; false if nothing is */
    BackgroundFreeze(String name, BooleanSupplier step) {
        this.name = name;
        this.step = step;
        this.threads = new ProcessMaskThreadFactory(
                Thread.ofPlatform().daemon().name("roost-freeze-" + name).factory());
    }

    /** Has everything done that is due now. Whoever waits is told if that fails; the one who asks is not. */
    @SuppressWarnings("IllegalCatch") // a change is made even if its rows cannot be frozen yet
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

    @SuppressWarnings("IllegalCatch") // a step that fails must not end the thread without those who wait being told
    private void run() {
        // Nothing here throws but steps: a thread that ended otherwise would stay the one that runs, for ever.
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

    /** Who waits has been told already: where there is no memory to log with, nothing else depends on it. */
    @SuppressWarnings({"IllegalCatch", "EmptyCatch"})
    private void warn(Throwable failed) {
        try {
            if (!isOfClosedOrchestrator(failed)) {
                LOG.warn(
                        "Rows of table {} cannot be frozen, they are searched one by one: {}", name, failed.toString());
            }
        } catch (Throwable unheard) {
            // See above.
        }
    }

    /** Whether the workers are gone: then nothing is searched any more, and nothing has gone wrong. */
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
     * @throws IllegalStateException if that failed; a {@link TableClosedException} if this was closed meanwhile
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

    /** Begins no further step; one under way ends in its own time. */
    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}
