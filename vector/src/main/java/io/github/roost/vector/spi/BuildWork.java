package io.github.roost.vector.spi;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The steps of an index build. Each step is batch work on the orchestrator's workers. Sequential steps run there
 * too: a thread of their own would take a core from a worker whose searches then wait. Each call returns when its work is done; everything
 * the workers wrote is then visible to the caller and to the workers of the next call.
 *
 * <p>Tracks progress and supports cancellation: after {@link #cancel} the current or next call throws a {@link CancellationException}.
 * Thread-safe; one step is called after the other.
 */
public final class BuildWork {
    private final Orchestrator orchestrator;
    private final String name;
    /** The build that this is a part of. */
    private final @Nullable BuildWork whole;
    /** The current phase: the shares of the build that are done before and after it. Written by the building thread. */
    private volatile Phase phase = new Phase(0, 0, 1, new AtomicLong(), null);

    /** Written under the lock: a build is cancelled or finished, never both. */
    private volatile boolean cancelled;

    private boolean finished;

    /** @param part the part that the phase consists of; null if it counts numbers */
    private record Phase(
            double from,
            double to,
            long numbers,
            AtomicLong done,
            @Nullable BuildWork part) {
        double progress() {
            double share = part == null ? Math.min(1, (double) done.get() / numbers) : part.progress();
            return from + (to - from) * share;
        }
    }

    /** Work on a range of numbers. */
    @FunctionalInterface
    public interface Range {
        /**
         * Processes the numbers of the range; called by several workers at once.
         *
         * @param from the first number
         * @param to the number after the last
         */
        void run(int from, int to);
    }

    /**
     * Creates a build that has not begun.
     *
     * @param orchestrator the orchestrator whose workers do the work
     * @param name the name of the work in reports
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     */
    public BuildWork(Orchestrator orchestrator, String name) {
        this.orchestrator = Objects.requireNonNull(orchestrator, "orchestrator must not be null");
        orchestrator.indexing().requireOpen(name);
        this.name = name;
        this.whole = null;
    }

    private BuildWork(BuildWork whole, String name) {
        this.orchestrator = whole.orchestrator;
        this.whole = whole;
        this.name = name;
    }

    /**
     * Starts a build in a virtual thread of its own.
     *
     * @param <T> the type of the table
     * @param build builds the table with this work; if the table is in use already, it must call {@link #finish} before it changes the
     *     table, since the result of a cancelled build is closed
     * @return the running build
     */
    public <T extends VectorTable> TableBuild<T> start(Function<BuildWork, T> build) {
        return RunningBuild.start(this, build);
    }

    /**
     * Checks what can be checked of a table's rows before they are read.
     *
     * @param ids one external id per row, all different
     * @param rows from 1 to 2,147,483,639 rows of 1 to 4,096 dimensions
     * @throws IllegalArgumentException if number, dimension or ids are invalid
     */
    public static void requireRows(long[] ids, VectorSource rows) {
        Objects.requireNonNull(rows, "rows must not be null");
        Vectors.requireRange("number of vectors", rows.size(), 1, Integer.MAX_VALUE - 8);
        Vectors.requireRange("dimension", rows.dimension(), 1, Vectors.MAX_DIMENSIONS);
        Vectors.requireIds(ids, rows.size());
    }

    /**
     * Begins a phase: the steps up to the next call of this method.
     *
     * @param share the progress of the whole build when the phase is done, from 0 to 1
     * @param numbers the count of numbers (of rows, say) that its steps process in total
     */
    public void phase(double share, long numbers) {
        requireWanted();
        phase = new Phase(phase.to, share, Math.max(1, numbers), new AtomicLong(), null);
    }

    /**
     * Begins a phase that consists of a part.
     *
     * @param share the progress of the whole build when the part is done, from 0 to 1
     * @param part the work of the part, whose progress is that of the phase
     */
    public void phase(double share, BuildWork part) {
        requireWanted();
        phase = new Phase(phase.to, share, 1, new AtomicLong(), part);
    }

    /**
     * Returns the work of a part of this build that has phases of its own, such as one of several graphs. It is cancelled when this build is.
     *
     * @param partName the name of the part in reports
     * @return the work of a part that has not begun
     */
    public BuildWork part(String partName) {
        return new BuildWork(this, partName);
    }

    /** {@return the share of the build that is done, from 0 to 1} */
    public double progress() {
        return phase.progress();
    }

    /**
     * Cancels the build unless it is finished. The build ends when it next checks for cancellation.
     *
     * @return whether the build is cancelled
     */
    public synchronized boolean cancel() {
        cancelled = !finished;
        return cancelled;
    }

    /**
     * Marks the build as finished, so that it cannot be cancelled: its result is about to be used. A second call does nothing.
     *
     * @throws CancellationException if it has been cancelled
     */
    public synchronized void finish() {
        requireWanted();
        finished = true;
    }

    private void requireWanted() {
        for (BuildWork work = this; work != null; work = work.whole) {
            if (work.cancelled) {
                throw new CancellationException(work.name + " was cancelled");
            }
        }
    }

    /**
     * Processes the numbers from 0 to {@code count}, exclusive, in ranges of {@code step}.
     *
     * @param count at least 0
     * @param step numbers per range, at least 1
     * @param range processes a range; called by several workers at once
     */
    public void run(int count, int step, Range range) {
        orchestrator.indexing().runBatch(name, (int) ((count + step - 1L) / step), piece -> {
            requireWanted();
            int from = piece * step;
            int to = (int) Math.min(count, from + (long) step);
            range.run(from, to);
            phase.done.addAndGet(to - from);
        });
    }

    /**
     * Calls {@code each} for every number from 0 to {@code count}, exclusive, on all workers; yields to waiting searches before each
     * number.
     *
     * @param count at least 0
     * @param step numbers per piece of batch work, at least 1; between two pieces a worker may run other batch work
     * @param each processes a number; called by several workers at once
     */
    public void forEach(int count, int step, IntConsumer each) {
        run(count, step, (from, to) -> {
            for (int number = from; number < to; number++) {
                yieldToSearches();
                each.accept(number);
            }
        });
    }

    /**
     * Runs {@code step} on one worker.
     *
     * @param <T> the type of the result
     * @param step the work; must call {@link #yieldToSearches} every few microseconds
     * @return the result of {@code step}
     */
    public <T> T once(Supplier<T> step) {
        CompletableFuture<T> result = new CompletableFuture<>();
        orchestrator.indexing().runBatch(name, 1, piece -> result.complete(step.get()));
        return result.join();
    }

    /**
     * Counts numbers that were processed outside {@link #run} and {@link #forEach}, by any thread.
     *
     * @param numbers the count of the phase's numbers that are done, at least 0
     */
    public void done(long numbers) {
        requireWanted();
        phase.done.addAndGet(numbers);
    }

    /** Yields to waiting searches. */
    public void yieldToSearches() {
        requireWanted();
        orchestrator.indexing().yieldToSearches();
    }

    /** A build that was started by {@link BuildWork#start}. */
    private record RunningBuild<T extends VectorTable>(BuildWork work, CompletableFuture<T> outcome)
            implements TableBuild<T> {
        static <T extends VectorTable> TableBuild<T> start(BuildWork work, Function<BuildWork, T> build) {
            CompletableFuture<T> outcome = new CompletableFuture<>();
            Thread.ofVirtual().name("roost-build").start(() -> {
                try {
                    end(work, build.apply(work), outcome);
                } catch (Throwable failure) {
                    outcome.completeExceptionally(failure);
                }
            });
            return new RunningBuild<>(work, outcome);
        }

        private static <T extends VectorTable> void end(BuildWork work, T table, CompletableFuture<T> outcome) {
            try {
                work.finish();
            } catch (CancellationException cancelled) {
                table.close();
                throw cancelled;
            }
            outcome.complete(table);
        }

        @Override
        public CompletableFuture<T> result() {
            return outcome.copy();
        }

        @Override
        public double progress() {
            return outcome.isDone() && !outcome.isCompletedExceptionally() ? 1 : work.progress();
        }

        @Override
        public boolean cancel() {
            return outcome.isDone() ? outcome.isCompletedExceptionally() : work.cancel();
        }
    }
}
