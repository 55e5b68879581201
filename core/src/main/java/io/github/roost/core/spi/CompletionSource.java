package io.github.roost.core.spi;

/**
 * A source of completions that a worker polls: the completion queue of an I/O ring or a network card. Each worker opens its
 * own instance and is the only one to use it. Code that completes {@link Pending}s from its own threads does not need one.
 */
public interface CompletionSource {
    /**
     * Completes the {@link Pending}s of all bytes that have arrived. Called between slices and before the worker sleeps. If
     * nothing has arrived, it must cost only a few memory reads and no system call.
     *
     * @return the number of {@link Pending}s completed
     */
    int poll();

    /**
     * Arms the {@link Waker} that the source was opened with: it must wake the worker as soon as bytes arrive. Called before
     * the worker sleeps.
     *
     * @return false if bytes have arrived already, or if the source cannot wake the worker; then the worker does not sleep
     */
    boolean arm();

    /**
     * The number of operations in flight. Stalls of a worker are classified by it. Called in the same thread as {@link #poll}.
     *
     * @return at least 0; 0 if unknown
     */
    default int underWay() {
        return 0;
    }

    /** Wakes a worker; from any thread. */
    @FunctionalInterface
    interface Waker {
        /** Wakes the worker if it sleeps. */
        void wake();
    }

    /** Opens the source of each worker. */
    @FunctionalInterface
    interface Factory {
        /**
         * Opens a worker's source; called in the worker's own thread.
         *
         * @param worker index of the worker, from 0
         * @param waker wakes the worker
         * @return the source
         */
        CompletionSource open(int worker, Waker waker);
    }

    /** Ends the polling of a factory's sources; see {@link Indexing#addCompletionSource}. Thread-safe. */
    @FunctionalInterface
    interface Handle extends AutoCloseable {
        /**
         * Removes the sources from all workers. When it returns, no worker polls them and the orchestrator does not refer to them; inside a
         * search it does not wait for that, and a poll that has begun may still run. It may be called before or after the orchestrator is
         * closed; a second call does nothing.
         */
        @Override
        void close();
    }
}
