package io.github.roost.core.pool;

import io.github.roost.core.task.CompletionSource;
import java.util.Arrays;

/**
 * A worker's sources of completions. They are the worker's, not its thread's: where a fresh thread runs the worker in place of
 * one that is blocked, that one looks at them, and the other no longer. The lock is for the moment in which one takes over; it is
 * taken only where there are sources.
 *
 * <p>A source that fails holds up no search: one that cannot be opened is left out, one that cannot be polled is polled again at
 * the next look, and one that cannot be armed lets the worker sleep for a moment only.
 */
final class WorkerSources {
    private static final CompletionSource[] NONE = {};

    /** Stands for a source that cannot be opened. */
    private static final CompletionSource FAILED = new CompletionSource() {
        @Override
        public int poll() {
            return 0;
        }

        @Override
        public boolean arm() {
            return true;
        }
    };

    private final Worker worker;
    private final WorkerPool pool;
    /** Guarded by this. */
    private CompletionSource[] sources = NONE;

    private boolean told;
    /** Whether one failed to be armed at the last attempt; written by the thread that runs the worker, and read by it. */
    private boolean unarmed;

    WorkerSources(Worker worker, WorkerPool pool) {
        this.worker = worker;
        this.pool = pool;
    }

    /** Looks at all sources, if the caller runs the worker. */
    void poll(Runner caller) {
        if (pool.sources().length == 0) {
            return;
        }
        synchronized (this) {
            if (!worker.isRunBy(caller)) {
                return;
            }
            open();
            for (CompletionSource source : sources) {
                try {
                    source.poll();
                } catch (Throwable failed) {
                    tell(failed);
                }
            }
        }
    }

    private void open() {
        CompletionSource.Factory[] factories = pool.sources();
        if (factories.length == sources.length) {
            return;
        }
        CompletionSource[] opened = Arrays.copyOf(sources, factories.length);
        for (int i = sources.length; i < opened.length; i++) {
            opened[i] = FAILED;
        }
        int before = sources.length;
        sources = opened;
        for (int i = before; i < opened.length; i++) {
            try {
                opened[i] = factories[i].open(worker.index, worker::wake);
            } catch (Throwable failed) {
                tell(failed);
            }
        }
    }

    /** Whether all sources wake the worker when something arrives, and nothing has; those that fail are looked at soon. */
    boolean armed(Runner caller) {
        CompletionSource.Factory[] factories = pool.sources();
        unarmed = false;
        if (factories.length == 0) {
            return true;
        }
        synchronized (this) {
            if (!worker.isRunBy(caller) || factories.length != sources.length) {
                return false;
            }
            boolean armed = true;
            for (CompletionSource source : sources) {
                try {
                    armed &= source.arm();
                } catch (Throwable failed) {
                    unarmed = true;
                    tell(failed);
                }
            }
            return armed;
        }
    }

    /** What is under way, if the caller runs the worker. */
    synchronized int underWay(Runner caller) {
        int sum = 0;
        if (worker.isRunBy(caller)) {
            for (CompletionSource source : sources) {
                try {
                    sum += source.underWay();
                } catch (Throwable failed) {
                    tell(failed);
                }
            }
        }
        return sum;
    }

    /** Whether the worker must look again soon, since a source may not wake it. */
    boolean unarmed() {
        return unarmed;
    }

    private void tell(Throwable failed) {
        if (!told) {
            told = true;
            pool.sourceFailed(worker, failed);
        }
    }
}
