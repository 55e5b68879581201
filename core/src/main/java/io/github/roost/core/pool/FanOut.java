package io.github.roost.core.pool;

import io.github.roost.core.placement.Epoch;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.Merger;
import io.github.roost.core.task.Part;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One query in many parts, and the future of its merged result.
 *
 * <p>Every part writes its result into its own place of an array, then counts itself off with an atomic decrement. The
 * part that counts to zero has thereby seen all decrements, and with them all writes before them, and merges. The first
 * failing part fails the future at once; parts not yet begun then see the future done and are skipped. Parts are
 * counted off however they end, so nothing of the query is left behind. A future may be kept long after its query: once
 * nothing is left to do it keeps neither parts nor results.
 */
public final class FanOut<P, R> extends RoostFuture<R> {
    private final long submittedNanos;
    private final long deadlineNanos;
    private final AtomicInteger remaining;
    /** Set to null once, by the thread that counts the last part off, or fails the future from outside. */
    private @Nullable Work<P, R> work;

    /** What the query is made of: all results are there once no part remains. */
    private record Work<P, R>(
            List<FanOutPart<P>> parts, @Nullable Object[] results, Merger<P, R> merger) {
        @SuppressWarnings("unchecked") // only results of parts, which are P, are put into the array
        R merged() throws Exception {
            return merger.merge((List<P>) Collections.unmodifiableList(Arrays.asList(results)));
        }
    }

    /** @param parts at least one */
    public FanOut(
            List<? extends Part<?, P>> parts,
            Merger<P, R> merger,
            Epoch epoch,
            long submittedNanos,
            long deadlineNanos) {
        this.submittedNanos = submittedNanos;
        this.deadlineNanos = deadlineNanos;
        this.remaining = new AtomicInteger(parts.size());
        List<FanOutPart<P>> tasks = new ArrayList<>(parts.size());
        for (Part<?, P> part : parts) {
            tasks.add(new FanOutPart<>(this, part, tasks.size(), epoch));
        }
        this.work = new Work<>(tasks, new Object[parts.size()], merger);
    }

    /** The task of each part; none once the query is over. */
    public List<? extends Task> parts() {
        Work<P, R> all = work;
        return all == null ? List.of() : all.parts;
    }

    long submittedNanos() {
        return submittedNanos;
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    void help(Worker worker, long untilNanos) {
        parts().forEach(worker::runIfUnclaimed);
    }

    void expired(long lateNanos) {
        completeExceptionally(new DeadlineExceededException(lateNanos));
    }

    /** Fails the query from outside: parts that run may still count themselves off, for nothing. */
    void fail(Throwable cause) {
        completeExceptionally(cause);
        work = null;
    }

    /** A part is over; its result, if it has one, is kept for the merge. */
    void countOff(int index, @Nullable P result) {
        Work<P, R> all = work;
        if (all != null) {
            all.results[index] = result;
        }
        if (remaining.decrementAndGet() == 0) {
            work = null;
            if (all != null && !isDone()) {
                mergeAndComplete(all);
            }
        }
    }

    private void mergeAndComplete(Work<P, R> all) {
        R merged;
        try {
            merged = all.merged();
        } catch (Throwable failure) {
            completeExceptionally(failure);
            return;
        }
        complete(merged);
    }
}
