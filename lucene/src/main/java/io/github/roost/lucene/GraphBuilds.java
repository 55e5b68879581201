package io.github.roost.lucene;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Registration;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * The threads that build the graphs of segments. By default these are the threads that flush and merge. With {@link #on} graphs are
 * built on an orchestrator's workers as maintenance, and the thread that flushes or merges waits for its graph. Searches that arrive
 * at a worker meanwhile go first; if they saturate the worker, the build gets a quarter of its time.
 *
 * <p>At most half as many graphs are built on the workers at once as there are workers, at least one. If more are needed, if no worker
 * has begun within 20 ms because all are busy, or if the orchestrator is closed, the thread that flushes or merges builds the graph.
 * So a flush, for which a refresh may wait, waits neither for another segment's merge nor for a gap in the load.
 *
 * <p>One object serves all indexes and fields whose graphs an orchestrator's workers build. Thread-safe.
 */
public final class GraphBuilds {
    /** Builds each graph in the calling thread. */
    static final GraphBuilds IN_CALLER = new GraphBuilds(null, 0, 0);

    private static final String NAME = "segments (build)";
    /** An idle worker begins within some 50 us; if none is idle, the calling thread begins before this time is much of a refresh's. */
    private static final long BEGIN_NANOS = 20_000_000;

    private final @Nullable Orchestrator orchestrator;
    private final long beginNanos;
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

    private GraphBuilds(@Nullable Orchestrator orchestrator, int places, long beginNanos) {
        this.orchestrator = orchestrator;
        this.beginNanos = beginNanos;
        this.places = new Semaphore(places);
        this.onWorkers = orchestrator != null;
    }

    /**
     * Builds graphs on the workers of an orchestrator, which reports them as the work {@code segments (build)}. While a worker builds,
     * it runs no other maintenance and no tasks of batch priority, and does not continue searches that have yielded or parked there,
     * as those of tables on disk and in remote memory do: use another orchestrator for such tables.
     *
     * <p>A task on the orchestrator must not change, flush, commit, merge or refresh an index that uses these builds, nor wait for a
     * thread that does: it may run within the build that this thread waits for.
     *
     * @param orchestrator the orchestrator. If it is closed while it builds a graph, closing waits for the build for some seconds; the
     *     build ends in any case
     * @return the builds, to be shared by all formats that use this orchestrator
     */
    public static GraphBuilds on(Orchestrator orchestrator) {
        Objects.requireNonNull(orchestrator, "orchestrator must not be null");
        return on(orchestrator, BEGIN_NANOS);
    }

    /** @param beginNanos how long the calling thread waits for a worker to begin */
    static GraphBuilds on(Orchestrator orchestrator, long beginNanos) {
        return new GraphBuilds(orchestrator, Math.max(1, orchestrator.workers() / 2), beginNanos);
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
            } catch (Throwable failure) {
                attempt.preventOrAwait();
                throw failure;
            } finally {
                places.release();
            }
        }
        attempt.run(() -> {});
        T built = attempt.result();
        (attempt.builder() == Thread.currentThread() ? byCallers : byWorkers).increment();
        return built;
    }

    /** Returns when a worker has run the build, or when none has begun in time. */
    private void offer(Orchestrator owner, Attempt<?> attempt) {
        Runnable turns = new BuildTurns(owner.indexing()::yieldToSearches, System::nanoTime);
        List<CompletableFuture<Void>> steps = new ArrayList<>();
        try (Registration workers = owner.indexing().registerBatchWork(NAME)) {
            for (int worker = 0; worker < workers.size(); worker++) {
                steps.add(owner.indexing().maintenance(workers.id(worker), context -> {
                    attempt.run(turns);
                    return false;
                }));
            }
            if (attempt.begins(beginNanos)) {
                attempt.await();
            }
        } catch (OrchestratorClosedException closed) {
            // The index may still be open: the calling thread builds the graph, unless a worker has begun.
        } finally {
            steps.forEach(step -> step.cancel(false));
        }
    }

    /**
     * A build that one of several threads runs: the one that first sets {@code begun}. Its writes to the other fields are published to
     * the calling thread by {@code ended}. The calling thread must not touch what the build uses between the two: an orchestrator that
     * is being closed may refuse a build that one of its workers has begun.
     */
    private static final class Attempt<T> {
        private final Build<T> build;
        private final AtomicBoolean begun = new AtomicBoolean();
        private final CountDownLatch begins = new CountDownLatch(1);
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private @Nullable Thread builder;
        private @Nullable T built;
        private @Nullable Throwable failure;

        Attempt(Build<T> build) {
            this.build = build;
        }

        /** Runs the build unless a thread has begun it. */
        void run(Runnable betweenPieces) {
            if (!begun.compareAndSet(false, true)) {
                return;
            }
            // Nothing from here to the try block can throw, so a build that has begun ends.
            try {
                begins.countDown();
                builder = Thread.currentThread();
                built = build.run(betweenPieces);
            } catch (Throwable thrown) {
                failure = thrown;
            } finally {
                ended.complete(null);
            }
        }

        /** Waits until a thread begins; false if none does in time, or if this thread is interrupted. */
        boolean begins(long nanos) {
            try {
                return begins.await(nanos, TimeUnit.NANOSECONDS);
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        /** Waits until the build has ended if a thread has begun it; otherwise none will. */
        void preventOrAwait() {
            if (!begun.compareAndSet(false, true)) {
                await();
            }
        }

        /** Waits for the end, also if this thread is interrupted. */
        void await() {
            ended.join();
        }

        @Nullable
        Thread builder() {
            return builder;
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
