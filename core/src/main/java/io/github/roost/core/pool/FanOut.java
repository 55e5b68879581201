package io.github.roost.core.pool;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Merger;
import io.github.roost.core.Part;
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
 * counted off however they end, so nothing of the query is left behind.
 */
public final class FanOut<P, R> extends RoostFuture<R> {
    private final Merger<P, R> merger;
    private final long submittedNanos;
    private final long deadlineNanos;
    private final List<FanOutPart<P>> parts;
    private final @Nullable Object[] results;
    private final AtomicInteger remaining;

    /** @param parts at least one */
    public FanOut(
            List<? extends Part<?, P>> parts,
            Merger<P, R> merger,
            Epoch epoch,
            long submittedNanos,
            long deadlineNanos) {
        this.merger = merger;
        this.submittedNanos = submittedNanos;
        this.deadlineNanos = deadlineNanos;
        this.results = new Object[parts.size()];
        this.remaining = new AtomicInteger(parts.size());
        this.parts = new ArrayList<>(parts.size());
        for (Part<?, P> part : parts) {
            this.parts.add(new FanOutPart<>(this, part, this.parts.size(), epoch));
        }
    }

    /** Number of parts. */
    public int parts() {
        return parts.size();
    }

    /** The task of one part. */
    public Task part(int index) {
        return parts.get(index);
    }

    long submittedNanos() {
        return submittedNanos;
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    void help(Worker worker, long untilNanos) {
        for (FanOutPart<P> part : parts) {
            worker.runIfUnclaimed(part);
        }
    }

    void expired(long lateNanos) {
        completeExceptionally(new DeadlineExceededException(lateNanos));
    }

    /** A part is over; its result, if it has one, is kept for the merge. */
    void countOff(int index, @Nullable P result) {
        results[index] = result;
        if (remaining.decrementAndGet() == 0 && !isDone()) {
            mergeAndComplete();
        }
    }

    @SuppressWarnings("unchecked") // only results of parts, which are P, are put into the array
    private void mergeAndComplete() {
        R merged;
        try {
            merged = merger.merge((List<P>) Collections.unmodifiableList(Arrays.asList(results)));
        } catch (Throwable failure) {
            completeExceptionally(failure);
            return;
        }
        complete(merged);
    }
}
