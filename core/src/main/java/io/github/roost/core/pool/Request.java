package io.github.roost.core.pool;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Priority;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.TableUse;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A submitted search in one object: its future, deadline, priority, epoch, cancellation, and the task that runs it. Created when
 * the search is accepted. The thread that claims a search of one slice runs it to its end; a search of several slices continues
 * as each of its steps says.
 */
public final class Request<Q, R> extends RoostFuture<R> implements Stepper {
    private static final VarHandle CLAIMED;

    static {
        try {
            CLAIMED = MethodHandles.lookup().findVarHandle(Request.class, "claimed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The kind of work of a request. */
    public enum Kind {
        /** A {@link SearchFunction}. */
        ONE_SLICE,
        /** A {@link Search}. */
        STEPS,
        /** Parts and their continuation; only the parts count as tasks. */
        PARTS,
        /** A {@link Search} that runs as maintenance. */
        MAINTENANCE
    }

    private final Kind kind;
    private final Priority priority;
    private final Epoch epoch;
    private final int slot;
    private final @Nullable TableUse use;
    private final long submittedNanos;
    private final long deadlineNanos;
    private @Nullable Object work;
    private @Nullable Q query;
    private @Nullable Task next;
    /** Written by the owner, read by the thread that completes the future. */
    private volatile @Nullable Parked parked;
    /** Written by the owner. */
    private boolean counted;
    /** Set once, by compare-and-set, by the thread that runs or fails the task first. */
    @SuppressWarnings("unused")
    private volatile boolean claimed;

    /** Creates a request that does not count as a user of a table. */
    public Request(
            Kind kind,
            @Nullable Search<? super Q, ? extends R> work,
            Q query,
            int slot,
            Epoch epoch,
            Priority priority,
            long submittedNanos,
            long deadlineNanos) {
        this(kind, work, query, slot, null, epoch, priority, submittedNanos, deadlineNanos);
    }

    /**
     * @param work a {@link SearchFunction} or a {@link Search}, depending on {@code kind}; null if a {@link Join} is set later
     * @param use the use that this request has already been counted into; null for none
     */
    public Request(
            Kind kind,
            @Nullable Search<? super Q, ? extends R> work,
            Q query,
            int slot,
            @Nullable TableUse use,
            Epoch epoch,
            Priority priority,
            long submittedNanos,
            long deadlineNanos) {
        this.kind = kind;
        this.work = work;
        this.query = query;
        this.slot = slot;
        this.use = use;
        this.epoch = epoch;
        this.priority = priority;
        this.submittedNanos = submittedNanos;
        this.deadlineNanos = deadlineNanos;
    }

    @Override
    public boolean claim() {
        return CLAIMED.compareAndSet(this, false, true);
    }

    @Override
    public boolean isClaimed() {
        return claimed;
    }

    @Override
    public After run(TaskContext context) {
        if (kind != Kind.ONE_SLICE) {
            After after = Stepper.run(this, context);
            if (after == After.ENDED) {
                forget();
            }
            return after;
        }
        Object function = work;
        Q argument = query;
        forget();
        // Another thread may fail a running task. If this thread read the work as forgotten, isDone() must be true.
        VarHandle.loadLoadFence();
        if (isDone()) {
            context.finished(Outcome.CANCELLED);
            return After.ENDED;
        }
        if (deadlineNanos != NO_DEADLINE && expired(context.startNanos())) {
            context.finished(Outcome.EXPIRED);
            completeExceptionally(new DeadlineExceededException(context.startNanos() - deadlineNanos));
            return After.ENDED;
        }
        Faults.point();
        R result;
        try {
            result = search(function, argument, context);
        } catch (Throwable failure) {
            context.finished(isDone() ? Outcome.CANCELLED : Outcome.FAILED);
            completeExceptionally(failure);
            return After.ENDED;
        }
        context.finished(isDone() ? Outcome.CANCELLED : Outcome.COMPLETED);
        Faults.point();
        complete(result);
        return After.ENDED;
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // not null: fail() completes the future before it clears them
    private R search(@Nullable Object function, @Nullable Q argument, SearchContext context) throws Exception {
        return ((SearchFunction<Q, R>) function).search(argument, context);
    }

    /** Clears the references to search and query: a caller may keep the future much longer than the query. */
    private void forget() {
        work = null;
        query = null;
        if (parked != null) {
            parked = null;
        }
    }

    @Override
    public void fail(Throwable cause) {
        completeExceptionally(cause);
        // Pairs with the fence in run().
        VarHandle.storeStoreFence();
        if (kind == Kind.ONE_SLICE) {
            forget();
        }
    }

    @Override
    public @Nullable Object work() {
        return work;
    }

    @Override
    public void work(Object then) {
        work = then;
    }

    @Override
    public @Nullable Object query() {
        return query;
    }

    @Override
    @SuppressWarnings("unchecked") // the result of the search that the constructor got
    public void done(@Nullable Object result) {
        complete((R) result);
    }

    @Override
    public void failRequest(Throwable failure) {
        completeExceptionally(failure);
    }

    @Override
    public int slot() {
        return slot;
    }

    @Override
    public Epoch epoch() {
        return epoch;
    }

    @Override
    public @Nullable TableUse use() {
        return use;
    }

    @Override
    public Priority priority() {
        return priority;
    }

    @Override
    public boolean isMaintenance() {
        return kind == Kind.MAINTENANCE;
    }

    @Override
    public long submittedNanos() {
        return submittedNanos;
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    public boolean countsAsTask() {
        return kind != Kind.PARTS;
    }

    @Override
    public boolean countsAsSearch() {
        boolean first = !counted;
        counted = true;
        return first;
    }

    @Override
    public boolean abandoned() {
        return isDone();
    }

    @Override
    public @Nullable Task next() {
        return next;
    }

    @Override
    public void next(@Nullable Task task) {
        next = task;
    }

    @Override
    public @Nullable Parked parked() {
        return parked;
    }

    @Override
    public void parked(Parked now) {
        boolean first = parked == null;
        parked = now;
        if (first) {
            Parked.resumeWhenUnneeded(this, this);
        }
    }

    @Override
    void help(NestedWaiting waiting, long untilNanos) {
        waiting.runIfUnclaimed(this);
        if (kind != Kind.ONE_SLICE) {
            super.help(waiting, untilNanos);
        }
    }
}
