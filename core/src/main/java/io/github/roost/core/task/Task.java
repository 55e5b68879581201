package io.github.roost.core.task;

import io.github.roost.core.Priority;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.spi.TableUse;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The unit of work in queues, run by workers slice by slice. A task has exactly one owner at any time: the {@link TaskQueue} that it
 * waits in, the {@link Parked} that will put it into a queue, or the thread that took it out, which runs or fails it.
 */
public interface Task {
    /**
     * Runs one slice. Exceptions of user code are not thrown: they are the outcome of a future. Calls {@link
     * TaskContext#finished} before it completes its own future, so that a thread that sees the result also sees it counted.
     */
    After run(TaskContext context);

    /** Fails the future of the task instead of running it. */
    void fail(Throwable cause);

    /** Hands over the tasks that continue because this task has ended, and forgets all else. Called once by its owner. */
    void deliver(Consumer<Task> goesOn);

    /** Slot of its mapping id. */
    int slot();

    /** The epoch it was dispatched under. */
    Epoch epoch();

    /** The use of a table that it is counted in instead of its epoch, if it belongs to maintenance; else null. */
    default @Nullable TableUse use() {
        return null;
    }

    Priority priority();

    /** Whether it is maintenance, which waits in the maintenance queue of its domain. */
    default boolean isMaintenance() {
        return false;
    }

    /** {@link System#nanoTime()} at submission, or {@link #NOT_TIMED}. */
    long submittedNanos();

    /** Whether the clock is read at its begin and end in any case. */
    boolean isTimed();

    /** {@link System#nanoTime()} after which it must not start or resume, or {@link #NO_DEADLINE}. */
    long deadlineNanos();

    /** Whether its deadline, or that of a query of its group, may pass while it waits. */
    default boolean hasDeadline() {
        return deadlineNanos() != NO_DEADLINE;
    }

    /** Whether its outcome is counted; false for a request that only joins its parts. */
    default boolean countsAsTask() {
        return true;
    }

    /** Whether the traffic being booked counts as a search: true for the first slice that touched anything. */
    boolean countsAsSearch();

    /** Whether its request is done or cancelled, so that its result is not needed. Any thread. */
    boolean isUnneeded();

    /** Fails the future of a task that another thread owns, as far as that is safe concurrently. Any thread. */
    default void failRunning(Throwable cause) {
        fail(cause);
    }

    /** The state of a task after a slice. */
    enum After {
        /** The task has ended. */
        ENDED,
        /** The task continues after the tasks that wait. */
        YIELDED,
        /** The task continues when the pending of the park in {@link TaskContext#step} completes. */
        PARKED,
        /** The task continues after the parts of the fork in {@link TaskContext#step}. */
        FORKED
    }

    /** The outcome of a task. */
    enum Outcome {
        COMPLETED,
        FAILED,
        CANCELLED,
        EXPIRED
    }

    long NO_DEADLINE = Long.MIN_VALUE;

    /** The submission time of a task that is not timed. */
    long NOT_TIMED = Long.MIN_VALUE;

    /** Whether its deadline has passed at {@code nanos}. Any thread. */
    default boolean expired(long nanos) {
        return deadlineNanos() != NO_DEADLINE && nanos - deadlineNanos() > 0;
    }
}
