package io.github.roost.core.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What a parked search waits for: bytes on their way from a disk, a network, another thread. The thread that learns of their
 * arrival completes it, once; a second completion, or one that comes after the search's deadline, is ignored.
 *
 * <p>Thread-safe: {@link #complete} from any thread, also before the search has parked; then it goes on at once. A completion
 * makes all that its thread wrote before visible to the search.
 *
 * <p>One field goes from nothing, to who waits, to the outcome, by compare-and-set; or from nothing to the outcome. Who sets
 * the outcome over a waiter resumes it, so exactly one does.
 */
public final class Pending {
    private static final Object READY = new Object();
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Pending.class, "state", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Null, a {@link Waiter}, {@link #READY}, or the failure. */
    private volatile @Nullable Object state;

    /** A parked search, as the runtime keeps it. */
    public interface Waiter {
        /** Has the search go on. Called once, by the thread that completes what it waits for. */
        void resume();
    }

    /** Makes one that is not complete. */
    public Pending() {}

    /**
     * One that is completed when a stage is, with its failure where it fails.
     *
     * @param stage to wait for
     * @return not complete while the stage is not
     */
    public static Pending of(CompletionStage<?> stage) {
        Pending pending = new Pending();
        stage.whenComplete((result, failure) -> {
            if (failure == null) {
                pending.complete();
            } else {
                pending.completeExceptionally(failure);
            }
        });
        return pending;
    }

    /**
     * Says that what is waited for is there.
     *
     * @return false, and nothing happens, if it was complete before
     */
    public boolean complete() {
        return end(READY);
    }

    /**
     * Says that what is waited for will not come.
     *
     * @param failure what the search fails with
     * @return false, and nothing happens, if it was complete before
     */
    public boolean completeExceptionally(Throwable failure) {
        if (failure == null) {
            throw new NullPointerException("failure must not be null");
        }
        return end(failure);
    }

    private boolean end(Object outcome) {
        while (true) {
            Object before = state;
            if (before != null && !(before instanceof Waiter)) {
                return false;
            }
            if (STATE.compareAndSet(this, before, outcome)) {
                if (before instanceof Waiter waiter) {
                    waiter.resume();
                }
                return true;
            }
        }
    }

    /** {@return whether it is complete; a read of memory} */
    public boolean ready() {
        Object now = state;
        return now != null && !(now instanceof Waiter);
    }

    /** {@return the failure that completed it, or null} */
    public @Nullable Throwable failure() {
        return state instanceof Throwable failure ? failure : null;
    }

    /**
     * For the runtime: has a search wait.
     *
     * @param waiter resumed on completion
     * @return false if it is complete already; then the waiter is not resumed
     * @throws IllegalStateException if another search waits for it
     */
    public boolean await(Waiter waiter) {
        while (true) {
            Object before = state;
            if (before instanceof Waiter) {
                throw new IllegalStateException("one search alone may wait for a pending, and another one does");
            }
            if (before != null) {
                return false;
            }
            if (STATE.compareAndSet(this, null, waiter)) {
                return true;
            }
        }
    }
}
