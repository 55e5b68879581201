package io.github.roost.core.pool;

import io.github.roost.core.placement.Epoch;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.Priority;
import io.github.roost.core.task.Search;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.TableUse;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One query's life: its future, deadline, priority, cancellation and epoch, and the task that runs it, in one object. Made
 * once, when it is accepted. A search of one slice is run to its end by whoever claims it; one of several steps goes on as
 * each says.
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

    /** How it is run. */
    public enum Kind {
        /** A {@link SearchFunction}. */
        ONE_SLICE,
        /** A {@link Search}. */
        STEPS,
        /** Parts, and what follows them; only the parts count as tasks. */
        PARTS,
        /** As that, when there is nothing better to do. */
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
    /** Written by the owner, read by whoever completes the future. */
    private volatile @Nullable Parked parked;
    /** Written by the owner. */
    private boolean counted;
    /** Set once, by compare-and-set, by the thread that runs or fails the task first. */
    @SuppressWarnings("unused")
    private volatile boolean claimed;

    /** One that counts as a user of no table. */
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
     * @param work a {@link SearchFunction} or a {@link Search}, as the kind says; null where a {@link Join} follows
     * @param use it has been counted in there
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
        // A task that has begun is failed from outside, too: who finds it forgotten must find it done.
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

    @SuppressWarnings({"unchecked", "NullAway"}) // who has claimed a task and finds it not done read both unforgotten
    private R search(@Nullable Object function, @Nullable Q argument, SearchContext context) throws Exception {
        return ((SearchFunction<Q, R>) function).search(argument, context);
    }

    /** A future may be kept long after its query: do not keep the query with it. */
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
        // With the fence in run().
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
    @SuppressWarnings("unchecked") // the result of the search that this was made with
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
            Parked.whenOver(this, this);
        }
    }

    @Override
    void help(Runner runner, long untilNanos) {
        runner.runIfUnclaimed(this);
        if (kind != Kind.ONE_SLICE) {
            super.help(runner, untilNanos);
        }
    }
}
