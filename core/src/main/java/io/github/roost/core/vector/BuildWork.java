package io.github.roost.core.vector;

import io.github.roost.core.Orchestrator;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * The steps of a build, for authors of indexes: each is batch work on an orchestrator's workers, also where it cannot be shared
 * among them, since in a thread of its own it would take a core away from a worker whose searches then wait. Each call returns
 * when all of it is done; what the workers wrote is then visible to the caller, and to the workers of the next call.
 *
 * <p>Counts how far the build is, and ends it where it is cancelled: with a {@link CancellationException} out of whichever
 * call is under way. Thread-safe; steps are called one after the other.
 */
public final class BuildWork {
    private final Orchestrator orchestrator;
    private final String name;
    /** The present phase: shares of the build that are done before it and with it. Written by the thread that builds. */
    private volatile Phase phase = new Phase(0, 0, 1, new AtomicLong());

    /** Written under the lock: a build is cancelled or finished, never both. */
    private volatile boolean cancelled;

    private boolean finished;

    private record Phase(double from, double to, long numbers, AtomicLong done) {
        double progress() {
            return from + (to - from) * Math.min(1, (double) done.get() / numbers);
        }
    }

    /** Work on numbers {@code from} to {@code to} exclusive. */
    @FunctionalInterface
    public interface Range {
        /**
         * Does its part.
         *
         * @param from the first number
         * @param to after the last
         */
        void run(int from, int to);
    }

    /**
     * A build that has not begun.
     *
     * @param orchestrator whose workers do it
     * @param name what the work shows as in reports
     */
    public BuildWork(Orchestrator orchestrator, String name) {
        this.orchestrator = Objects.requireNonNull(orchestrator, "orchestrator must not be null");
        this.name = name;
    }

    /**
     * Says what share of the whole build the steps up to the next call make up.
     *
     * @param share what the build's progress is when they are done, from 0 to 1
     * @param numbers how many numbers, of rows or of other things, they go over in all
     */
    public void phase(double share, long numbers) {
        requireWanted();
        phase = new Phase(phase.to, share, Math.max(1, numbers), new AtomicLong());
    }

    /** {@return how much of the build is done, from 0 to 1} */
    public double progress() {
        return phase.progress();
    }

    /**
     * Ends the build at its next look, unless it is finished.
     *
     * @return whether the build ends
     */
    public synchronized boolean cancel() {
        cancelled = !finished;
        return cancelled;
    }

    /**
     * Says that the build cannot be cancelled any more: what it has made is put in force, or given away. A second call does nothing.
     *
     * @throws CancellationException if it has been cancelled
     */
    public synchronized void finish() {
        requireWanted();
        finished = true;
    }

    private void requireWanted() {
        if (cancelled) {
            throw new CancellationException(name + " was cancelled");
        }
    }

    /**
     * Does 0 to {@code count}, some numbers at a time.
     *
     * @param count at least 0
     * @param step numbers per call, at least 1
     * @param range called by several workers at once
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
     * Does something for each number from 0 to {@code count}, on all workers; between two numbers searches that wait go first.
     *
     * @param count at least 0
     * @param step how many numbers follow each other before a worker turns to other batch work
     * @param each called by several workers at once
     */
    public void forEach(int count, int step, IntConsumer each) {
        run(count, step, (from, to) -> {
            for (int number = from; number < to; number++) {
                giveWay();
                each.accept(number);
            }
        });
    }

    /**
     * Does something on one worker.
     *
     * @param <T> what it makes
     * @param step calls {@link #giveWay} every few microseconds
     * @return what it has made
     */
    public <T> T once(Supplier<T> step) {
        CompletableFuture<T> result = new CompletableFuture<>();
        orchestrator.indexing().runBatch(name, 1, piece -> result.complete(step.get()));
        return result.join();
    }

    /**
     * Counts what was done elsewhere than on the workers, by any thread; a build that was cancelled ends here.
     *
     * @param numbers how many of the phase's numbers, at least 0
     */
    public void done(long numbers) {
        requireWanted();
        phase.done.addAndGet(numbers);
    }

    /** Lets searches that wait go first. */
    public void giveWay() {
        requireWanted();
        orchestrator.indexing().giveWay();
    }
}
