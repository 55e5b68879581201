package io.github.roost.core.task;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Step;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The join of a forked task: the count of parts that have not ended, and the results of the parts.
 *
 * <p>Each part writes its result into its own array element, then decrements the count atomically. The thread that reaches zero
 * has seen all decrements and all writes before them, and owns the task from then on. The thread that starts the parts holds
 * one count itself until all parts are started, so the task does not continue earlier.
 */
public final class Join {
    private final Stepper task;
    private final Step.Fork<?, ?, ?, ?> fork;
    private final AtomicInteger remaining;
    private final @Nullable Object[] results;
    /** A failure of a part, or of starting the parts: written before the count-off, read by the continuation. */
    private volatile @Nullable Throwable failure;

    public Join(Stepper task, Step.Fork<?, ?, ?, ?> fork) {
        this.task = task;
        this.fork = fork;
        int parts = fork.parts().size() + fork.shared().size();
        this.results = new Object[parts];
        this.remaining = new AtomicInteger(parts + 1);
    }

    Stepper task() {
        return task;
    }

    /** Calls with the request that the parts belong to. */
    void request(Consumer<Request<?, ?>> each) {
        if (task instanceof Request<?, ?> request) {
            each.accept(request);
        } else {
            task.forEachRequest(each);
        }
    }

    /** Sets the result of a part; null for none. */
    void result(int index, @Nullable Object result) {
        results[index] = result;
    }

    /**
     * Records a failure; the task finds it when all parts are counted off. Used if parts cannot be started, and for parts that end
     * together with parts of other requests, whose answers must not wait for the continuations of the failure.
     */
    public void fail(Throwable cause) {
        failure = cause;
    }

    /** Counts off ended parts; hands over the task if none is left. */
    public void countOff(int parts, Consumer<Task> goesOn) {
        if (remaining.addAndGet(-parts) == 0) {
            goesOn.accept(task);
        }
    }

    /** Runs the continuation of the parts and returns its step. */
    @SuppressWarnings(
            "unchecked") // the fork's types: the results come from its parts, the query from the task that forked
    Step<?, ?> step(@Nullable Object query, SearchContext context) throws Exception {
        Throwable failed = failure;
        if (failed != null) {
            throw Stepper.asException(failed);
        }
        Step.Fork<Object, Object, Object, Object> typed = (Step.Fork<Object, Object, Object, Object>) fork;
        List<Object> all = Collections.unmodifiableList(Arrays.asList(results));
        return joined(typed.next(), query, all, context);
    }

    @SuppressWarnings("NullAway") // null only if the search was submitted with null
    private static Step<?, ?> joined(
            Step.Joined<Object, Object, Object> next, @Nullable Object query, List<Object> all, SearchContext context)
            throws Exception {
        return next.joined(query, all, context);
    }
}
