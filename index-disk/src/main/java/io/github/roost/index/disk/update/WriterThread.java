package io.github.roost.index.disk.update;

import io.github.roost.core.SearchContext;
import io.github.roost.topology.system.IdleScheduling;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a writer's steps on its own thread, whenever it is woken, until there is nothing to do. Only the thread that has scheduled
 * the writer wakes it, one at a time; a wake before the thread waits is not lost.
 */
final class WriterThread implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WriterThread.class);

    private final DiskWriter writer;
    private final boolean idle;
    private final Semaphore wakeUps = new Semaphore(0);
    private final Thread thread;
    private volatile boolean closed;

    WriterThread(String table, DiskWriter writer, boolean idle) {
        this.writer = writer;
        this.idle = idle;
        this.thread = Thread.ofPlatform()
                .daemon()
                .inheritInheritableThreadLocals(false)
                .name("roost-disk-updates-" + table)
                .unstarted(this::run);
        thread.start();
    }

    /** Runs steps again; any thread. */
    void wake() {
        wakeUps.release();
    }

    private void run() {
        if (idle && !IdleScheduling.begin()) {
            LOG.warn("updates have an ordinary thread: the system has no SCHED_IDLE, or refuses it");
        }
        SearchContext context = SearchContext.outside((nodes, bytes) -> {});
        while (!closed) {
            wakeUps.acquireUninterruptibly();
            if (!closed) {
                steps(context);
            }
        }
    }

    private void steps(SearchContext context) {
        try {
            while (writer.step(context)) {
                // Until there is nothing to do.
            }
        } catch (Throwable failed) {
            writer.failed(failed);
        }
    }

    /** Ends the thread; the writer must have nothing to do. */
    @Override
    public void close() {
        closed = true;
        wakeUps.release();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException stop) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
