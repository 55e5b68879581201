package io.github.roost.core.pool;

import io.github.roost.core.placement.Epoch;
import io.github.roost.core.task.Part;
import io.github.roost.core.task.SearchContext;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The task of one part of a {@link FanOut}. */
final class FanOutPart<P> implements Task {
    private static final VarHandle CLAIMED;

    static {
        try {
            CLAIMED = MethodHandles.lookup().findVarHandle(FanOutPart.class, "claimed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final FanOut<P, ?> fanOut;
    private final Part<?, P> part;
    private final int index;
    private final Epoch epoch;
    /** Set once, by compare-and-set, by the thread that runs or fails the part. */
    @SuppressWarnings("unused")
    private volatile boolean claimed;

    FanOutPart(FanOut<P, ?> fanOut, Part<?, P> part, int index, Epoch epoch) {
        this.fanOut = fanOut;
        this.part = part;
        this.index = index;
        this.epoch = epoch;
    }

    @Override
    public boolean claim() {
        return CLAIMED.compareAndSet(this, false, true);
    }

    @Override
    public void run(TaskContext context) {
        P result = null;
        if (fanOut.isDone()) {
            context.finished(Outcome.CANCELLED);
        } else if (expired(context.startNanos())) {
            context.finished(Outcome.EXPIRED);
            fanOut.expired(context.startNanos() - deadlineNanos());
        } else {
            try {
                result = search(part, context);
                context.finished(fanOut.isDone() ? Outcome.CANCELLED : Outcome.COMPLETED);
            } catch (Throwable failure) {
                context.finished(fanOut.isDone() ? Outcome.CANCELLED : Outcome.FAILED);
                fanOut.completeExceptionally(failure);
            }
        }
        fanOut.countOff(index, result);
    }

    private static <Q, P> P search(Part<Q, P> part, SearchContext context) throws Exception {
        return part.searchFunction().search(part.query(), context);
    }

    @Override
    public void fail(Throwable cause) {
        fanOut.fail(cause);
    }

    @Override
    public int slot() {
        return part.mappingId().slot();
    }

    @Override
    public Epoch epoch() {
        return epoch;
    }

    @Override
    public long submittedNanos() {
        return fanOut.submittedNanos();
    }

    @Override
    public long deadlineNanos() {
        return fanOut.deadlineNanos();
    }

    @Override
    public boolean abandoned() {
        return fanOut.isDone();
    }
}
