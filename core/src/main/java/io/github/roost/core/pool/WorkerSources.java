package io.github.roost.core.pool;

import io.github.roost.core.spi.CompletionSource;
import java.util.Arrays;

/**
 * A worker's completion sources. They belong to the worker, not to its thread: if a fresh thread replaces a blocked one, only the
 * fresh thread polls them. The lock covers the moment of replacement; without sources it is not taken.
 *
 * <p>A source that fails does not block searches: a source that cannot be opened is left out; after a failed poll it is polled
 * again at the next look; after a failed arm the worker sleeps only for a short time.
 */
final class WorkerSources {
    private static final CompletionSource[] NONE = {};

    /** Replaces a source that cannot be opened. */
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
    /** Whether a source failed to arm at the last attempt; used only by the thread that runs the worker. */
    private boolean unarmed;

    WorkerSources(Worker worker, WorkerPool pool) {
        this.worker = worker;
        this.pool = pool;
    }

    /** Polls all sources if {@code caller} runs the worker. */
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

    /** Arms all sources; whether the worker may sleep. If a source failed, it may only sleep briefly: see {@link #unarmed}. */
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

    /** The number of operations in flight; 0 if {@code caller} does not run the worker. */
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
