package io.github.roost.core.spi;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The event that a parked search waits for: the arrival of bytes from a disk, a network, or another thread. The thread that
 * observes the arrival completes it, once. A second completion is ignored; one after the search's deadline has no effect on
 * the search.
 *
 * <p>Thread-safe. {@link #complete} may be called from any thread, even before the search parks; then the search resumes at
 * once. Writes of the completing thread before the call are visible to the resumed search.
 *
 * <p>The state changes by compare-and-set from null to the waiter to the outcome, or from null to the outcome. The thread whose
 * compare-and-set replaces the waiter resumes it, so it is resumed exactly once.
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

    private final @Nullable Supplier<String> awaited;

    /** A parked search, as the runtime keeps it. */
    public interface Waiter {
        /** Resumes the search. Called once, by the thread that completes the {@link Pending}. */
        void resume();
    }

    /** Creates an incomplete instance. */
    public Pending() {
        this.awaited = null;
    }

    /**
     * Creates an incomplete instance whose event has a name. A search whose deadline passes before the event fails with that name.
     *
     * @param awaited names the event, to be read after "the search waited for"; called by any thread, and only if the deadline passes first
     */
    public Pending(Supplier<String> awaited) {
        this.awaited = awaited;
    }

    /**
     * A pending that completes when a stage completes, and fails when the stage fails.
     *
     * @param stage the stage to wait for
     * @return a pending that is incomplete while the stage is
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
     * Completes this pending: the bytes have arrived, and the search can resume.
     *
     * @return false if it was already complete; then the call has no effect
     */
    public boolean complete() {
        return end(READY);
    }

    /**
     * Completes this pending with a failure: the bytes will not arrive, and the search fails.
     *
     * @param failure the failure of the search
     * @return false if it was already complete; then the call has no effect
     * @throws NullPointerException if {@code failure} is null
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

    /** {@return whether it is complete; costs one volatile read} */
    public boolean ready() {
        Object now = state;
        return now != null && !(now instanceof Waiter);
    }

    /** {@return the name of an event that has not occurred, or null if it has occurred or has no name} */
    public @Nullable String awaited() {
        return awaited == null || ready() ? null : awaited.get();
    }

    /** {@return the failure that it was completed with, or null} */
    public @Nullable Throwable failure() {
        return state instanceof Throwable failure ? failure : null;
    }

    /**
     * Registers a parked search; for the runtime.
     *
     * @param waiter resumed on completion
     * @return false if it is already complete; then the waiter is not registered and not resumed
     * @throws IllegalStateException if another waiter is registered
     */
    public boolean await(Waiter waiter) {
        while (true) {
            Object before = state;
            if (before instanceof Waiter) {
                throw new IllegalStateException("only one search may wait for a pending, and another one already does");
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
