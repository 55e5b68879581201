package io.github.roost.core.vector;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * A table that is being built on the orchestrator's workers, as batch work beside searches. Thread-safe.
 *
 * @param <T> the table
 */
public final class TableBuild<T extends VectorTable> {
    private final BuildWork work;
    private final CompletableFuture<T> result;

    private TableBuild(BuildWork work, CompletableFuture<T> result) {
        this.work = work;
        this.result = result;
    }

    /**
     * Begins a build, for authors of indexes.
     *
     * @param <T> the table
     * @param work its steps
     * @param build makes the table by them, in a thread of its own; one that changes a table which is in use calls {@link
     *     BuildWork#finish} before it does, since the result of a build that was cancelled is closed
     * @return under way
     */
    public static <T extends VectorTable> TableBuild<T> start(BuildWork work, Function<BuildWork, T> build) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofVirtual().name("roost-build").start(() -> {
            try {
                end(work, build.apply(work), result);
            } catch (Throwable failure) {
                result.completeExceptionally(failure);
            }
        });
        return new TableBuild<>(work, result);
    }

    private static <T extends VectorTable> void end(BuildWork work, T table, CompletableFuture<T> result) {
        try {
            work.finish();
        } catch (CancellationException cancelled) {
            table.close();
            throw cancelled;
        }
        result.complete(table);
    }

    /**
     * {@return completes with the table, to be closed; or with what the build failed with, a {@link CancellationException} where
     * it was cancelled}
     */
    public CompletableFuture<T> result() {
        return result.copy();
    }

    /**
     * Waits for the table. Not for a worker's thread, which is needed for the work.
     *
     * @return the table, to be closed
     * @throws RuntimeException what the build failed with
     */
    public T join() {
        try {
            return result.join();
        } catch (CompletionException failed) {
            switch (failed.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                case null, default -> throw failed;
            }
        }
    }

    /** {@return how much of the build is done, from 0 to 1; never less than before} */
    public double progress() {
        return result.isDone() && !result.isCompletedExceptionally() ? 1 : work.progress();
    }

    /**
     * Cancels the build: its workers turn to other work within microseconds, its memory is given back. A build that is done
     * stays.
     *
     * @return whether the build will end without a table; false where the table stands already, or is being put in force
     */
    public boolean cancel() {
        return result.isDone() ? result.isCompletedExceptionally() : work.cancel();
    }
}
