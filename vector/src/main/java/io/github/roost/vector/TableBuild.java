package io.github.roost.vector;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A build of a table, or of new parts of it, in progress on the orchestrator's workers, as batch work. Thread-safe.
 *
 * @param <T> the type of the table
 */
public interface TableBuild<T extends VectorTable> {
    /**
     * {@return completes with the table, to be closed by the caller; fails with the exception of the build, a {@link CancellationException}
     * if it was cancelled}
     */
    CompletableFuture<T> result();

    /**
     * Waits for the table. Must not be called on a worker, which is needed for the build.
     *
     * @return the table, to be closed by the caller
     * @throws RuntimeException the exception that the build failed with
     */
    default T join() {
        try {
            return result().join();
        } catch (CompletionException failed) {
            switch (failed.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                case null, default -> throw failed;
            }
        }
    }

    /** {@return the share of the build that is done, from 0 to 1; never decreases} */
    double progress();

    /**
     * Cancels the build: its workers stop within microseconds and its memory is freed. A build that is done is not affected.
     *
     * @return whether the build ends without a table; false if the table is built already, or is being put into use
     */
    boolean cancel();
}
