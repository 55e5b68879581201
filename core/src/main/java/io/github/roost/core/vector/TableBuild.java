package io.github.roost.core.vector;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * A table build in progress on the orchestrator's workers, as batch work. Thread-safe.
 *
 * @param <T> the type of the table
 */
public final class TableBuild<T extends VectorTable> {
    private final BuildWork work;
    private final CompletableFuture<T> result;

    private TableBuild(BuildWork work, CompletableFuture<T> result) {
        this.work = work;
        this.result = result;
    }

    /**
     * Starts a build, for authors of indexes.
     *
     * @param <T> the type of the table
     * @param work runs the steps of the build
     * @param build builds the table, in a virtual thread of its own; if the table is in use already, it must call {@link BuildWork#finish}
     *     before it changes the table, since the result of a cancelled build is closed
     * @return the running build
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
     * {@return completes with the table, to be closed by the caller; fails with the exception of the build, a {@link CancellationException}
     * if it was cancelled}
     */
    public CompletableFuture<T> result() {
        return result.copy();
    }

    /**
     * Waits for the table. Must not be called on a worker, which is needed for the build.
     *
     * @return the table, to be closed by the caller
     * @throws RuntimeException the exception that the build failed with
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

    /** {@return the share of the build that is done, from 0 to 1; never decreases} */
    public double progress() {
        return result.isDone() && !result.isCompletedExceptionally() ? 1 : work.progress();
    }

    /**
     * Cancels the build: its workers stop within microseconds and its memory is freed. A build that is done is not affected.
     *
     * @return whether the build ends without a table; false if the table is built already, or is being put into use
     */
    public boolean cancel() {
        return result.isDone() ? result.isCompletedExceptionally() : work.cancel();
    }
}
