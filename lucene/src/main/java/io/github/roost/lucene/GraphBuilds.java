package io.github.roost.lucene;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.indexing.BuildWork;
import io.github.roost.core.task.OrchestratorClosedException;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * The threads that build the graphs of segments. By default these are the threads that flush and merge. With {@link #on} graphs are
 * built on an orchestrator's workers as maintenance: searches that arrive at a worker meanwhile go first, and while all workers
 * search, a build gets the orchestrator's share of maintenance. The thread that flushes or merges waits for its graph.
 *
 * <p>At most as many graphs are built on the workers at once as there are workers. If more are needed, or if the orchestrator is
 * closed, a graph is built by the thread that flushes or merges, so that a flush, for which a refresh may wait, never waits for
 * another segment's merge.
 *
 * <p>One object serves all indexes and fields whose graphs an orchestrator's workers build. Thread-safe.
 */
public final class GraphBuilds {
    /** Builds each graph in the calling thread. */
    static final GraphBuilds IN_CALLER = new GraphBuilds(null, 0);

    private static final String NAME = "segments (build)";

    private final @Nullable Orchestrator orchestrator;
    /** One permit per graph that may be built on the workers. */
    private final Semaphore places;

    private final LongAdder byWorkers = new LongAdder();
    private final LongAdder byCallers = new LongAdder();
    private volatile boolean onWorkers;

    /** Builds a graph. */
    @FunctionalInterface
    interface Build<T> {
        /**
         * Builds the graph.
         *
         * @param betweenPieces to be run every few microseconds, by the thread that builds
         */
        T run(Runnable betweenPieces) throws IOException;
    }

    private GraphBuilds(@Nullable Orchestrator orchestrator, int places) {
        this.orchestrator = orchestrator;
        this.places = new Semaphore(places);
        this.onWorkers = orchestrator != null;
    }

    /**
     * Builds graphs on the workers of an orchestrator, which reports them as the work {@code segments (build)}. A task on the
     * orchestrator must not wait for a flush, commit, merge or refresh in another thread: it may run within the build that this
     * thread waits for.
     *
     * @param orchestrator the orchestrator; may be closed before the indexes are
     * @return the builds, to be shared by all formats that use this orchestrator
     */
    public static GraphBuilds on(Orchestrator orchestrator) {
        Objects.requireNonNull(orchestrator, "orchestrator must not be null");
        return new GraphBuilds(orchestrator, orchestrator.workers());
    }

    /**
     * Sets whether graphs are built on the workers. Applies to graphs whose builds have not begun.
     *
     * @param value false for the threads that flush and merge
     */
    public void onWorkers(boolean value) {
        onWorkers = value;
    }

    /** {@return the number of graphs that workers have built} */
    public long byWorkers() {
        return byWorkers.sum();
    }

    /** {@return the number of graphs that threads that flush and merge have built} */
    public long byCallers() {
        return byCallers.sum();
    }

    /**
     * Runs a build once, on a worker or in the calling thread.
     *
     * @throws IOException if the build throws it
     */
    <T> T run(Build<T> build) throws IOException {
        Attempt<T> attempt = new Attempt<>(build);
        if (orchestrator != null && onWorkers && places.tryAcquire()) {
            try {
                offer(orchestrator, attempt);
            } finally {
                places.release();
            }
        }
        if (attempt.begin()) {
            attempt.run(() -> {});
            byCallers.increment();
        }
        return attempt.result();
    }

    /** Returns when a worker has run the build, or without that if the orchestrator is closed. */
    private void offer(Orchestrator orchestrator, Attempt<?> attempt) {
        try {
            BuildWork work = new BuildWork(orchestrator, NAME);
            work.once(() -> {
                if (attempt.begin()) {
                    attempt.run(work::yieldToSearches);
                    byWorkers.increment();
                }
                return attempt;
            });
        } catch (OrchestratorClosedException closed) {
            // The index may still be open: the calling thread builds the graph, unless a worker has begun.
        } catch (Throwable failure) {
            if (!attempt.begin()) {
                attempt.await();
            }
            throw failure;
        }
    }

    /**
     * A build and its end. The thread for which {@link #begin} returns true, and no other, calls {@link #run}, whose writes the
     * latch publishes to the calling thread. An orchestrator that is being closed may refuse a build that one of its workers has
     * begun, so the calling thread must not touch what the build uses before it has ended.
     */
    private static final class Attempt<T> {
        private final Build<T> build;
        private final AtomicBoolean begun = new AtomicBoolean();
        private final CountDownLatch ended = new CountDownLatch(1);
        private @Nullable T built;
        private @Nullable Throwable failure;

        Attempt(Build<T> build) {
            this.build = build;
        }

        boolean begin() {
            return begun.compareAndSet(false, true);
        }

        void run(Runnable betweenPieces) {
            try {
                built = build.run(betweenPieces);
            } catch (Throwable thrown) {
                failure = thrown;
            } finally {
                ended.countDown();
            }
        }

        void await() {
            boolean interrupted = false;
            while (ended.getCount() > 0) {
                try {
                    ended.await();
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        T result() throws IOException {
            await();
            if (failure != null) {
                throw IOUtils.rethrowAlways(failure);
            }
            return Objects.requireNonNull(built);
        }
    }
}
