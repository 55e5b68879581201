package io.github.roost.index.hnsw;

import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.TableClosedException;
import io.github.roost.topology.system.ProcessMaskThreadFactory;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.spi.BuildWork;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the merges of a table in a background thread, one after the other. The thread exists only while there is work: an idle table
 * has none.
 *
 * <p>A run repeats a step until the step finds nothing to do. It serves all that was asked for before it began: the requests of the
 * table itself, and merges, which callers wait for and may cancel. What is asked for meanwhile is served by the next run, since
 * the present one may have passed the rows concerned. A run is cancelled when the last merge that it serves is, unless the table
 * itself has asked for it too, and when the table is closed.
 *
 * <p>{@link #close} ends every run: it sets {@code closed} and cancels the run under way, both under the lock, and a run begins
 * under the lock, only if {@code closed} is not set. So a run that close() does not see never begins, and the work of one that it
 * does see ends at its next step.
 *
 * <p>Thread-safe; fields are guarded by this object. Futures are completed without the lock, as that runs callers' code.
 *
 * @param <T> the type of the table
 */
final class MergeScheduler<T extends VectorTable> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MergeScheduler.class);

    private final ThreadFactory threads;
    private final T table;
    private final String name;
    private final Supplier<BuildWork> works;
    private final Predicate<BuildWork> step;
    private @Nullable Run underWay;
    /** The run after it, once something has been asked for. */
    private @Nullable Run next;
    /** Whether the thread exists and will look for {@code next} again. */
    private boolean running;

    private boolean closed;

    /**
     * @param table the result of a merge; need not be complete yet
     * @param name of the table
     * @param works makes the work of a run
     * @param step does one merge that is due, with the work of the run; returns false if none is
     */
    MergeScheduler(T table, String name, Supplier<BuildWork> works, Predicate<BuildWork> step) {
        this.table = table;
        this.name = name;
        this.works = works;
        this.step = step;
        this.threads = new ProcessMaskThreadFactory(Thread.ofPlatform()
                .daemon()
                .inheritInheritableThreadLocals(false)
                .name("roost-merge-" + name)
                .factory());
    }

    private final class Run {
        final BuildWork work = works.get();
        /** Does not change once the run has ended. */
        final List<Merge> merges = new ArrayList<>();
        /** Whether the table itself has asked for it. */
        boolean isRequested;

        boolean hasEnded;

        @Nullable
        Throwable failure;

        /** Called with the lock; returns false if the run has ended already. */
        boolean end(@Nullable Throwable failed) {
            boolean isFirst = !hasEnded;
            if (isFirst) {
                hasEnded = true;
                failure = failed;
            }
            return isFirst;
        }
    }

    /** Asks for all merges that are due now. Does not throw: the change that asks succeeds even if its rows cannot be merged yet. */
    @SuppressWarnings("IllegalCatch")
    void request() {
        try {
            synchronized (this) {
                if (!closed) {
                    next().isRequested = true;
                    startThread();
                }
            }
        } catch (Throwable failed) {
            warn(failed);
        }
    }

    /**
     * Starts all merges that are due now.
     *
     * @return fails with an {@link IllegalStateException} if a merge does
     * @throws TableClosedException if this is closed
     * @throws OrchestratorClosedException if the orchestrator is closed
     */
    synchronized TableBuild<T> start() {
        if (closed) {
            throw new TableClosedException(name);
        }
        Run run = next();
        Merge merge = new Merge(run);
        run.merges.add(merge);
        startThread();
        return merge;
    }

    private Run next() {
        Run run = next;
        if (run == null) {
            run = new Run();
            next = run;
        }
        return run;
    }

    /** If no thread can be started, nothing has been asked for: without a thread {@code next} holds only the present call's. */
    private void startThread() {
        if (!running) {
            try {
                threads.newThread(this::run).start();
                running = true;
            } finally {
                if (!running) {
                    next = null;
                }
            }
        }
    }

    @SuppressWarnings("IllegalCatch") // waiting callers must learn of any failure
    private void run() {
        // If the thread died, running would stay true and no thread would ever start again.
        for (Run run = begin(); run != null; run = begin()) {
            Throwable failed = null;
            try {
                boolean more = true;
                while (more) {
                    more = step.test(run.work);
                }
            } catch (Throwable thrown) {
                failed = thrown;
            }
            end(run, failed);
        }
    }

    private synchronized @Nullable Run begin() {
        underWay = closed ? null : next;
        next = null;
        running = underWay != null;
        return underWay;
    }

    private void end(Run run, @Nullable Throwable failed) {
        boolean isFirst;
        synchronized (this) {
            underWay = null;
            isFirst = run.end(failed);
        }
        if (isFirst) {
            complete(run);
            if (failed != null && !(failed instanceof CancellationException)) {
                warn(failed);
            }
        }
    }

    /** Called once, without the lock, after the run has ended. */
    @SuppressWarnings("IllegalCatch")
    private void complete(Run run) {
        for (int i = 0; i < run.merges.size(); i++) {
            try {
                run.merges.get(i).complete(run.failure);
            } catch (Throwable noMemory) {
                // The others are told all the same, and the thread lives on.
                LOG.debug("a merge of {} has no report", name);
            }
        }
    }

    /** Never throws: the thread must go on. */
    @SuppressWarnings({"IllegalCatch", "EmptyCatch"})
    private void warn(Throwable failed) {
        try {
            if (!isOfClosedOrchestrator(failed)) {
                LOG.warn(
                        "Rows of table {} cannot be merged, they are searched one by one: {}", name, failed.toString());
            }
        } catch (Throwable unheard) {
            // Callers have been told already, so an error while logging (out of memory) can be ignored.
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

    /** Cancels the run under way, and prevents further ones; does not wait for the thread. */
    @Override
    public void close() {
        Run present;
        Run later;
        synchronized (this) {
            closed = true;
            TableClosedException refusal = new TableClosedException(name);
            present = underWay != null && underWay.end(refusal) ? underWay : null;
            later = next != null && next.end(refusal) ? next : null;
            next = null;
            if (present != null) {
                present.work.cancel();
            }
        }
        if (present != null) {
            complete(present);
        }
        if (later != null) {
            complete(later);
        }
    }

    /** A caller's share in a run. */
    private final class Merge implements TableBuild<T> {
        private final Run run;
        private final CompletableFuture<T> outcome = new CompletableFuture<>();
        private boolean cancelled;

        Merge(Run run) {
            this.run = run;
        }

        void complete(@Nullable Throwable failure) {
            switch (failure) {
                case null -> outcome.complete(table);
                case CancellationException _, TableClosedException _, OrchestratorClosedException _ ->
                    outcome.completeExceptionally(failure);
                default ->
                    outcome.completeExceptionally(
                            new IllegalStateException("table " + name + " cannot be merged", failure));
            }
        }

        @Override
        public CompletableFuture<T> result() {
            return outcome.copy();
        }

        @Override
        public double progress() {
            return outcome.isDone() && !outcome.isCompletedExceptionally() ? 1 : run.work.progress();
        }

        @Override
        public boolean cancel() {
            synchronized (MergeScheduler.this) {
                if (cancelled || run.hasEnded) {
                    return cancelled || run.failure != null;
                }
                cancelled = true;
                run.merges.remove(this);
                if (run.merges.isEmpty() && !run.isRequested) {
                    drop(run);
                }
            }
            outcome.completeExceptionally(new CancellationException("merge of table " + name + " was cancelled"));
            return true;
        }
    }

    /** Ends a run that nobody wants any more; called with the lock. */
    private void drop(Run run) {
        if (run == next) {
            next = null;
        } else {
            run.work.cancel();
        }
    }
}
