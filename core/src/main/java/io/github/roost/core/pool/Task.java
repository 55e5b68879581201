package io.github.roost.core.pool;

import io.github.roost.core.Priority;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.spi.TableUse;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The unit of work in queues, run by workers slice by slice. Before its first slice a task is in at most one ring, unclaimed. The
 * thread that wins {@link #claim()} runs or fails it: the worker that took it out of the ring, or the thread that waits for its
 * result. From then on it has exactly one owner at any time: the thread that runs a slice of it, the {@link TaskList} that it
 * waits in, or the {@link Parked} that will put it into a list.
 */
public interface Task {
    /** Claims the right to run or fail a task that has not begun; true for exactly one caller. */
    boolean claim();

    /** Whether the task has been claimed; then a ring may drop it. Any thread. */
    boolean isClaimed();

    /**
     * Runs one slice. Exceptions of user code are not thrown: they are the outcome of a future. Calls {@link
     * TaskContext#finished} before it completes its own future, so that a thread that sees the result also sees it counted.
     */
    After run(TaskContext context);

    /** Fails the future of the task instead of running it; may be called again if it threw. */
    void fail(Throwable cause);

    /**
     * Hands over the tasks that continue because this task has ended. Called once by its owner, after the task was run to its end
     * or failed. Allocates nothing.
     */
    default void deliver(Consumer<Task> goesOn) {}

    /** Slot of its mapping id. */
    int slot();

    /** The epoch it was dispatched under. */
    Epoch epoch();

    /** The use of its table that it is counted in until it has ended, or null. */
    default @Nullable TableUse use() {
        return null;
    }

    Priority priority();

    /** Whether it is maintenance, which waits in the maintenance list of its domain. */
    default boolean isMaintenance() {
        return false;
    }

    /** {@link System#nanoTime()} at submission, or {@link #NOT_TIMED}. */
    long submittedNanos();

    /** {@link System#nanoTime()} after which it must not start or resume, or {@link #NO_DEADLINE}. */
    long deadlineNanos();

    /** {@link System#nanoTime()} after which {@link #staysParked} is called while it is parked, or {@link #NO_DEADLINE}. */
    default long parkedDeadlineNanos() {
        return deadlineNanos();
    }

    /** Called by the owner of a parked task whose deadline has passed; whether it stays parked, with a new deadline. */
    default boolean staysParked(long now) {
        return false;
    }

    /** Whether its outcome is counted; false for a request that only joins its parts. */
    default boolean countsAsTask() {
        return true;
    }

    /** Whether the traffic being booked counts as a search: true for the first slice that touched anything. */
    default boolean countsAsSearch() {
        return true;
    }

    /** Whether its request is done or cancelled, so that its result is not needed. */
    boolean abandoned();

    /** Whether it need not stay parked because its result is not needed. Any thread. */
    default boolean isUnneeded() {
        return abandoned();
    }

    /** Fails the future of a task that another thread owns, as far as that is safe concurrently. Any thread. */
    default void failRunning(Throwable cause) {
        fail(cause);
    }

    /** The next task in a {@link TaskList}; guarded by that list. */
    @Nullable
    Task next();

    void next(@Nullable Task task);

    /** Its last wait, or null; written by its owner. */
    @Nullable
    Parked parked();

    /** Sets the wait that is about to begin; the first call also registers {@link Parked#resumeWhenUnneeded} on the future. */
    void parked(Parked parked);

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

    /** Whether its deadline has passed at {@code nanos}. */
    default boolean expired(long nanos) {
        return deadlineNanos() != NO_DEADLINE && nanos - deadlineNanos() > 0;
    }
}
