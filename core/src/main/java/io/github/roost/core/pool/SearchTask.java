package io.github.roost.core.pool;

import io.github.roost.core.placement.Epoch;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** One submitted search and the future of its result, in one object. */
public final class SearchTask<Q, R> extends RoostFuture<R> implements Task {
    private static final VarHandle CLAIMED;

    static {
        try {
            CLAIMED = MethodHandles.lookup().findVarHandle(SearchTask.class, "claimed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Epoch epoch;
    private final int slot;
    private final long submittedNanos;
    private final long deadlineNanos;
    private @Nullable SearchFunction<? super Q, ? extends R> searchFunction;
    private @Nullable Q query;
    /** Set once, by compare-and-set, by the thread that runs or fails the task. */
    @SuppressWarnings("unused")
    private volatile boolean claimed;

    public SearchTask(
            SearchFunction<? super Q, ? extends R> searchFunction,
            Q query,
            int slot,
            Epoch epoch,
            long submittedNanos,
            long deadlineNanos) {
        this.searchFunction = searchFunction;
        this.query = query;
        this.slot = slot;
        this.epoch = epoch;
        this.submittedNanos = submittedNanos;
        this.deadlineNanos = deadlineNanos;
    }

    @Override
    public boolean claim() {
        return CLAIMED.compareAndSet(this, false, true);
    }

    @Override
    public void run(TaskContext context) {
        SearchFunction<? super Q, ? extends R> function = searchFunction;
        Q argument = query;
        forget();
        // A task that has begun is failed from outside, too: who finds it forgotten must find it done.
        VarHandle.loadLoadFence();
        if (isDone()) {
            context.finished(Outcome.CANCELLED);
            return;
        }
        long late = context.startNanos() - deadlineNanos;
        if (expired(context.startNanos())) {
            context.finished(Outcome.EXPIRED);
            completeExceptionally(new DeadlineExceededException(late));
            return;
        }
        R result;
        try {
            result = search(function, argument, context);
        } catch (Throwable failure) {
            context.finished(isDone() ? Outcome.CANCELLED : Outcome.FAILED);
            completeExceptionally(failure);
            return;
        }
        context.finished(isDone() ? Outcome.CANCELLED : Outcome.COMPLETED);
        complete(result);
    }

    @SuppressWarnings("NullAway") // who has claimed a task and finds it not done has read both unforgotten
    private R search(
            @Nullable SearchFunction<? super Q, ? extends R> function, @Nullable Q argument, SearchContext context)
            throws Exception {
        return function.search(argument, context);
    }

    /** A future may be kept long after its query: do not keep the query with it. */
    private void forget() {
        searchFunction = null;
        query = null;
    }

    @Override
    public void fail(Throwable cause) {
        completeExceptionally(cause);
        // With the fence in run().
        VarHandle.storeStoreFence();
        forget();
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
    public long submittedNanos() {
        return submittedNanos;
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    public boolean abandoned() {
        return isDone();
    }

    @Override
    void help(Worker worker, long untilNanos) {
        worker.runIfUnclaimed(this);
    }
}
