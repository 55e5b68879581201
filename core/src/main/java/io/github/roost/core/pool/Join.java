package io.github.roost.core.pool;

import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.Step;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a task that have not ended, and their results.
 *
 * <p>Every part writes its result into its own place of an array, then counts itself off with an atomic decrement. Who
 * counts to zero has thereby seen all decrements, and with them all writes before them, and owns the task from then on. The
 * one who makes the parts holds one count itself until all are on their way, so the task does not go on before.
 */
final class Join {
    private final Stepper task;
    private final Step.Fork<?, ?, ?, ?> fork;
    private final AtomicInteger remaining;
    private final @Nullable Object[] results;
    /** What a part of a batch queue failed with: written before it is counted off, read by who goes on. */
    private volatile @Nullable Throwable failure;

    Join(Stepper task, Step.Fork<?, ?, ?, ?> fork) {
        this.task = task;
        this.fork = fork;
        int parts = fork.parts().size() + fork.shared().size();
        this.results = new Object[parts];
        this.remaining = new AtomicInteger(parts + 1);
    }

    Stepper task() {
        return task;
    }

    /** A part has ended, with its result if it has one. */
    void result(int index, @Nullable Object result) {
        results[index] = result;
    }

    /**
     * A part has failed: the task finds that out when all are counted off. For parts that end together with those of others,
     * whose answers must not wait for what follows the failure.
     */
    void fail(Throwable cause) {
        failure = cause;
    }

    /** Counts parts off that have ended; the last hands the task over. */
    void countOff(int parts, Consumer<Task> goesOn) {
        if (remaining.addAndGet(-parts) == 0) {
            goesOn.accept(task);
        }
    }

    /** What follows the parts. */
    @SuppressWarnings("unchecked") // the fork's own types: results are of its parts, the query of the task that forked
    Step<?, ?> step(@Nullable Object query, SearchContext context) throws Exception {
        Throwable failed = failure;
        if (failed != null) {
            throw Stepper.asException(failed);
        }
        Step.Fork<Object, Object, Object, Object> typed = (Step.Fork<Object, Object, Object, Object>) fork;
        List<Object> all = Collections.unmodifiableList(Arrays.asList(results));
        return joined(typed.next(), query, all, context);
    }

    @SuppressWarnings("NullAway") // a task's query is what its search was submitted with
    private static Step<?, ?> joined(
            Step.Joined<Object, Object, Object> next, @Nullable Object query, List<Object> all, SearchContext context)
            throws Exception {
        return next.joined(query, all, context);
    }
}
