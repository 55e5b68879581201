package io.github.roost.core.task;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.core.task.Task.After;
import io.github.roost.core.task.Task.Outcome;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A task made of steps: a {@link Request}, a part of one, or a group of a batch queue. Only the owner calls its methods, except where
 * they say any thread.
 */
public interface Stepper extends Task {
    /** The work of the next slice: a {@link Search}, or the {@link Join} of parts that have ended. */
    @Nullable
    Object work();

    void work(Object next);

    @Nullable
    Object query();

    /** Sets the result of this task. */
    void done(@Nullable Object result);

    /** Fails the request of this task, or all requests of its group. Any thread, except for a group. */
    void failRequest(Throwable failure);

    /** Its last wait, or null; written by its owner. Any thread. */
    @Nullable
    Parked parked();

    /** Sets the wait that is about to begin. */
    void parked(Parked parked);

    /** Calls with each request that this task is a part of, while it is parked; none for a request itself, which looks after its own waits. */
    default void forEachRequest(Consumer<Request<?, ?>> each) {}

    /** Runs one slice of a task. */
    static After run(Stepper task, TaskContext context) {
        if (task.expired(context.startNanos())) {
            context.finished(Outcome.EXPIRED);
            task.failRequest(late(task, context.startNanos() - task.deadlineNanos()));
            return After.ENDED;
        }
        if (task.isUnneeded()) {
            context.finished(Outcome.CANCELLED);
            return After.ENDED;
        }
        Step<?, ?> step;
        try {
            step = step(task, context);
        } catch (Throwable failure) {
            context.finished(task.isUnneeded() ? Outcome.CANCELLED : Outcome.FAILED);
            task.failRequest(failure);
            return After.ENDED;
        }
        return switch (step) {
            case Step.Done<?, ?>(Object result) -> {
                context.finished(task.isUnneeded() ? Outcome.CANCELLED : Outcome.COMPLETED);
                task.done(result);
                yield After.ENDED;
            }
            case Step.Yield<?, ?>(Search<?, ?> next) -> {
                task.work(next);
                yield After.YIELDED;
            }
            case Step.Park<?, ?> park -> {
                task.work(park.next());
                context.step(park);
                yield After.PARKED;
            }
            case Step.Fork<?, ?, ?, ?> fork -> {
                context.step(fork);
                yield After.FORKED;
            }
        };
    }

    /** The failure of a task whose deadline has passed; it names what the task waits for, if that is why it is late. */
    static Throwable late(Stepper task, long lateNanos) {
        Parked parked = task.parked();
        try {
            String awaited = parked == null ? null : parked.awaited();
            return awaited == null ? new DeadlineExceededException(lateNanos) : new DeadlineExceededException(awaited);
        } catch (Throwable unnamed) {
            // A name that cannot be made must not keep the request from ending.
            DeadlineExceededException late = new DeadlineExceededException(lateNanos);
            late.addSuppressed(unnamed);
            return late;
        }
    }

    /** Runs the work of a task. The unchecked casts hold because a task's search, its query and all next steps have matching types. */
    @SuppressWarnings({"unchecked", "NullAway"})
    private static Step<?, ?> step(Stepper task, TaskContext context) throws Exception {
        Parked parked = task.parked();
        Throwable failure = parked == null ? null : parked.failure();
        if (failure != null) {
            throw asException(failure);
        }
        Object work = task.work();
        Step<?, ?> step = work instanceof Join join
                ? join.step(task.query(), context)
                : ((Search<Object, Object>) work).step(task.query(), context);
        if (step == null) {
            throw new NullPointerException("a step must not be null, got null of " + work);
        }
        return step;
    }

    /** Converts a failure of a search on another thread to an exception to throw here; rethrows an {@link Error}. */
    static Exception asException(Throwable failure) {
        return switch (failure) {
            case Error error -> throw error;
            case Exception exception -> exception;
            default -> new CompletionException(failure);
        };
    }
}
