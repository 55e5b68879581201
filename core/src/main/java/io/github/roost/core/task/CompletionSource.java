package io.github.roost.core.task;

/**
 * Where a worker learns that bytes have arrived: the completion queue of an I/O ring or a network card. Each worker has its
 * own, and alone uses it. Sources that complete {@link Pending}s from threads of their own need none of this.
 */
public interface CompletionSource {
    /**
     * Completes the {@link Pending}s of what has arrived. Called between slices and before the worker sleeps: a few reads of
     * memory, never a system call, where nothing has.
     *
     * @return how many it has completed
     */
    int poll();

    /**
     * Asks that the worker be woken, by the {@link Waker} that the source was opened with, as soon as something arrives.
     * Called before the worker sleeps.
     *
     * @return false if something has arrived meanwhile, or the source cannot wake: then the worker does not sleep
     */
    boolean arm();

    /**
     * How much is under way, by which the stalls of a worker are told apart. Called like {@link #poll}.
     *
     * @return at least 0; 0 where it is not known
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

    /** Makes the source of each worker. */
    @FunctionalInterface
    interface Factory {
        /**
         * Makes a worker's source; called in the worker's own thread.
         *
         * @param worker its index
         * @param waker wakes it
         * @return its source
         */
        CompletionSource open(int worker, Waker waker);
    }
}
