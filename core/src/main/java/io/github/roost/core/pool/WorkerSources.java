package io.github.roost.core.pool;

import io.github.roost.core.spi.CompletionSource;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A worker's completion sources. They belong to the worker, not to its thread: if a fresh thread replaces a blocked one, only the
 * fresh thread polls them. The lock covers the moment of replacement; without sources it is not taken.
 *
 * <p>A source that fails does not block searches: a source that cannot be opened is left out; after a failed poll it is polled
 * again at the next look; after a failed arm the worker sleeps only for a short time.
 */
final class WorkerSources {
    private static final Added[] NONE = {};
    private static final CompletionSource[] NO_SOURCES = {};

    /** A source that was added to the pool; each is another, even if factories are equal. */
    static final class Added implements CompletionSource.Handle {
        private final Consumer<Added> remove;
        /** Null once closed: a handle that is kept keeps nothing else. */
        private volatile CompletionSource.@Nullable Factory factory;

        Added(CompletionSource.Factory factory, Consumer<Added> remove) {
            this.factory = factory;
            this.remove = remove;
        }

        CompletionSource open(int worker, CompletionSource.Waker waker) {
            CompletionSource.Factory opens = factory;
            return opens == null ? FAILED : opens.open(worker, waker);
        }

        @Override
        public void close() {
            factory = null;
            remove.accept(this);
        }
    }

    /** Replaces a source that cannot be opened, or is removed before. */
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
    private final ReentrantLock lock = new ReentrantLock();
    /** The pool's sources at the last look; changed under the lock, as {@link #sources}. */
    private volatile Added[] seen = NONE;
    /** The source of each that was seen. */
    private CompletionSource[] sources = NO_SOURCES;

    private boolean told;
    /** Whether a source failed to arm at the last attempt; used only by the thread that runs the worker. */
    private boolean unarmed;

    WorkerSources(Worker worker, WorkerPool pool) {
        this.worker = worker;
        this.pool = pool;
    }

    /** Whether there are sources to poll, to open or to drop. */
    boolean any() {
        return pool.sources().length + seen.length > 0;
    }

    /** Polls all sources if {@code caller} runs the worker. */
    void poll(Runner caller) {
        if (!any()) {
            return;
        }
        // Not waited for: a callback of a poll may wait for what this thread is to run.
        if (!lock.tryLock()) {
            return;
        }
        try {
            if (!worker.isRunBy(caller)) {
                return;
            }
            follow();
            for (CompletionSource source : sources) {
                try {
                    source.poll();
                } catch (Throwable failed) {
                    tell(failed);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Opens the sources that were added since the last look, and drops those that were removed. */
    private void follow() {
        Added[] before = seen;
        Added[] now = pool.sources();
        if (now == before) {
            return;
        }
        CompletionSource[] following = new CompletionSource[now.length];
        for (int i = 0; i < now.length; i++) {
            int at = Arrays.asList(before).indexOf(now[i]);
            following[i] = at < 0 ? FAILED : sources[at];
        }
        sources = following;
        seen = now;
        for (int i = 0; i < now.length; i++) {
            if (!Arrays.asList(before).contains(now[i])) {
                try {
                    following[i] = now[i].open(worker.index, () -> pool.idle().wake(worker));
                } catch (Throwable failed) {
                    tell(failed);
                }
            }
        }
    }

    /** Drops a removed source, at once, from any thread that is not a worker's: a worker that sleeps or has ended does not look. */
    void drop(Added removed) {
        lock.lock();
        try {
            int at = Arrays.asList(seen).indexOf(removed);
            if (at >= 0) {
                seen = without(seen, at);
                sources = without(sources, at);
            }
        } finally {
            lock.unlock();
        }
    }

    private static <T> T[] without(T[] all, int at) {
        T[] left = Arrays.copyOf(all, all.length - 1);
        System.arraycopy(all, at + 1, left, at, left.length - at);
        return left;
    }

    /** Arms all sources; whether the worker may sleep. If a source failed, it may only sleep briefly: see {@link #unarmed}. */
    boolean armed(Runner caller) {
        Added[] now = pool.sources();
        unarmed = false;
        if (now.length + seen.length == 0) {
            return true;
        }
        if (!lock.tryLock()) {
            unarmed = true;
            return true;
        }
        try {
            if (!worker.isRunBy(caller) || now != seen) {
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
        } finally {
            lock.unlock();
        }
    }

    /** The number of operations in flight; 0 if {@code caller} does not run the worker. */
    int underWay(Runner caller) {
        int sum = 0;
        if (lock.tryLock()) {
            try {
                for (CompletionSource source : worker.isRunBy(caller) ? sources : NO_SOURCES) {
                    sum += underWayOf(source);
                }
            } finally {
                lock.unlock();
            }
        }
        return sum;
    }

    private int underWayOf(CompletionSource source) {
        try {
            return source.underWay();
        } catch (Throwable failed) {
            tell(failed);
            return 0;
        }
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
