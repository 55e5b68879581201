package io.github.roost.core.task;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Priority;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.TableUse;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A submitted search in one object: its future, deadline, priority, epoch, cancellation, and the task that runs it. Created when
 * the search is accepted. A search of several slices continues as each of its steps says. When it has ended, it keeps its outcome and nothing else,
 * since a caller may keep the future for long.
 */
public class Request<Q, R> extends RoostFuture<R> implements Stepper {
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

    /** Maintenance, which is counted as a user of its table and not in an epoch, so that long work holds none. */
    public static final class Maintenance<Q, R> extends Request<Q, R> {
        private final TableUse use;

        /** @param use has been entered for this request */
        public Maintenance(Search<? super Q, ? extends R> work, Q query, int slot, Epoch epoch, TableUse use) {
            super(Kind.MAINTENANCE, work, query, slot, epoch, Priority.BATCH, NOT_TIMED, NO_DEADLINE);
            this.use = use;
        }

        @Override
        public TableUse use() {
            return use;
        }
    }

    /** Requests that callers have ended, in this process: if it has changed, there may be tasks in queues that nobody needs. */
    private static final ThreadLocal<Boolean> ENDING = new ThreadLocal<>();

    private static final LongAdder ABANDONED = new LongAdder();

    private static final Kind[] KINDS = Kind.values();
    private static final int KIND = 3;
    private static final int BATCH = 4;
    private static final int COUNTED = 8;
    private static final int SLOT_SHIFT = 4;

    // The fields are few, and some of them packed, since there is one such object per search.
    /** The slot, and below it the kind, the priority, and whether its search has been counted, which its owner writes. */
    private int packed;

    private @Nullable Epoch epoch;
    /** A {@link SearchFunction}, a {@link Search}, or the {@link Join} of parts. */
    private @Nullable Object work;

    private @Nullable Q query;
    /** Written by the owner, read by the thread that completes the future. */
    private volatile @Nullable Parked parked;

    private final long submittedNanos;
    private final long deadlineNanos;

    /**
     * Creates a request.
     *
     * @param work a {@link SearchFunction} or a {@link Search}, depending on {@code kind}; null if a {@link Join} is set later
     */
    public Request(
            Kind kind,
            @Nullable Search<? super Q, ? extends R> work,
            Q query,
            int slot,
            Epoch epoch,
            Priority priority,
            long submittedNanos,
            long deadlineNanos) {
        this.packed = slot << SLOT_SHIFT | (priority == Priority.BATCH ? BATCH : 0) | kind.ordinal();
        this.work = work;
        this.query = query;
        this.epoch = epoch;
        this.submittedNanos = submittedNanos;
        this.deadlineNanos = deadlineNanos;
    }

    private Kind kind() {
        return KINDS[packed & KIND];
    }

    @Override
    public After run(TaskContext context) {
        if (kind() != Kind.ONE_SLICE) {
            return Stepper.run(this, context);
        }
        if (deadlineNanos != NO_DEADLINE && expired(context.startNanos())) {
            context.finished(Outcome.EXPIRED);
            super.completeExceptionally(new DeadlineExceededException(context.startNanos() - deadlineNanos));
            return After.ENDED;
        }
        if (isDone()) {
            context.finished(Outcome.CANCELLED);
            return After.ENDED;
        }
        R result;
        try {
            result = search(work, query, context);
        } catch (Throwable failure) {
            context.finished(isDone() ? Outcome.CANCELLED : Outcome.FAILED);
            super.completeExceptionally(failure);
            return After.ENDED;
        }
        context.finished(isDone() ? Outcome.CANCELLED : Outcome.COMPLETED);
        super.complete(result);
        return After.ENDED;
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // not null before the request has ended
    private R search(@Nullable Object function, @Nullable Q argument, SearchContext context) throws Exception {
        return ((SearchFunction<Q, R>) function).search(argument, context);
    }

    @Override
    public void deliver(Consumer<Task> goesOn) {
        work = null;
        query = null;
        epoch = null;
        if (parked != null) {
            parked = null;
        }
    }

    @Override
    public void fail(Throwable cause) {
        super.completeExceptionally(cause);
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
        super.complete((R) result);
    }

    @Override
    public void failRequest(Throwable failure) {
        super.completeExceptionally(failure);
    }

    // ---- Ended by a caller.

    /** The number of requests that callers have ended so far, in this process. */
    public static long abandoned() {
        return ABANDONED.sum();
    }

    /** Whether the calling thread ends a request: one that is parked goes on after its callbacks, so they must not wait for it. */
    public static boolean isEndedHere() {
        return ENDING.get() != null;
    }

    private static boolean abandons(BooleanSupplier end) {
        Boolean outer = ENDING.get();
        ENDING.set(Boolean.TRUE);
        try {
            boolean ends = end.getAsBoolean();
            if (ends) {
                ABANDONED.increment();
            }
            return ends;
        } finally {
            if (outer == null) {
                ENDING.remove();
            }
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return abandons(() -> super.cancel(mayInterruptIfRunning));
    }

    @Override
    public boolean complete(R value) {
        return abandons(() -> super.complete(value));
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        return abandons(() -> super.completeExceptionally(failure));
    }

    @Override
    public int slot() {
        return packed >> SLOT_SHIFT;
    }

    @Override
    public Epoch epoch() {
        Epoch present = epoch;
        if (present == null) {
            throw new IllegalStateException("the request has ended");
        }
        return present;
    }

    @Override
    public Priority priority() {
        return (packed & BATCH) == 0 ? Priority.INTERACTIVE : Priority.BATCH;
    }

    @Override
    public boolean isMaintenance() {
        return kind() == Kind.MAINTENANCE;
    }

    @Override
    public long submittedNanos() {
        return submittedNanos;
    }

    @Override
    public boolean isTimed() {
        return submittedNanos != NOT_TIMED || deadlineNanos != NO_DEADLINE || kind() != Kind.ONE_SLICE;
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    public boolean countsAsTask() {
        return kind() != Kind.PARTS;
    }

    @Override
    public boolean countsAsSearch() {
        boolean first = (packed & COUNTED) == 0;
        packed |= COUNTED;
        return first;
    }

    @Override
    public boolean isUnneeded() {
        return isDone();
    }

    @Override
    public @Nullable Parked parked() {
        return parked;
    }

    private void resumeIfParked() {
        Parked last = parked;
        if (last != null) {
            last.resumeIfUnneeded();
        }
    }

    @Override
    public void parked(Parked now) {
        boolean first = parked == null;
        parked = now;
        if (first) {
            var _ = whenComplete((result, failure) -> resumeIfParked());
        }
    }
}
