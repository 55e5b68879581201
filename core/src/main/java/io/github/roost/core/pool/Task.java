package io.github.roost.core.pool;

import io.github.roost.core.placement.Epoch;
import io.github.roost.core.task.Priority;
import io.github.roost.core.task.TableUse;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Something that runs on workers, slice by slice. Before its first slice a task sits in at most one ring, unclaimed: whoever
 * wins {@link #claim()} runs or fails it, be it the worker that took it out of the ring or the thread that waits for its
 * result. From then on it has one owner at any time: the worker that runs a slice of it, the {@link TaskList} that it waits
 * in, or the {@link Parked} that will put it there.
 */
public interface Task {
    /** Takes the right to run or fail a task that has not begun; true for exactly one caller. */
    boolean claim();

    /** Whether somebody has claimed it, and what is left of it in a ring is nobody's business. Any thread. */
    boolean isClaimed();

    /**
     * Runs one slice. Throws nothing that user code throws: that is the outcome of a future. Calls {@link
     * TaskContext#finished} before it completes its own future, so that who sees the result sees it counted.
     */
    After run(TaskContext context);

    /** Fails what waits for the task, instead of running it; may be called again where it could not finish. */
    void fail(Throwable cause);

    /**
     * Hands over the tasks that go on because this one has ended. Called once, after it was run to its end, or failed, by
     * its owner. Needs no memory.
     */
    default void deliver(Consumer<Task> goesOn) {}

    /** Slot of its mapping id. */
    int slot();

    /** The epoch it was dispatched under. */
    Epoch epoch();

    /** Where it counts as a user of its table until it has ended, or null. */
    default @Nullable TableUse use() {
        return null;
    }

    Priority priority();

    /** Whether it is maintenance: goes on where that waits, not where searches do. */
    default boolean isMaintenance() {
        return false;
    }

    /** {@link System#nanoTime()} at submission, or {@link #NOT_TIMED}. */
    long submittedNanos();

    /** {@link System#nanoTime()} after which it must not start, or {@link #NO_DEADLINE}. */
    long deadlineNanos();

    /** When it is to be looked at while it is parked, or {@link #NO_DEADLINE}. */
    default long parkedDeadlineNanos() {
        return deadlineNanos();
    }

    /** Looks at a parked task whose deadline has passed, as its owner: whether it goes on waiting, until another deadline. */
    default boolean staysParked(long now) {
        return false;
    }

    /** Whether its outcome is counted: not that of what only holds the parts of a request together. */
    default boolean countsAsTask() {
        return true;
    }

    /** Whether traffic of the slice that is booked counts as a search: true for the first that touched anything. */
    default boolean countsAsSearch() {
        return true;
    }

    /** Whether nobody waits for its result any more. */
    boolean abandoned();

    /** Whether it need not wait any longer, since nobody waits for what it would find. Any thread. */
    default boolean over() {
        return abandoned();
    }

    /** Fails what waits for a task that another thread owns, as far as that can be done beside it. Any thread. */
    default void failRunning(Throwable cause) {
        fail(cause);
    }

    /** The task behind it in a {@link TaskList}; guarded by that. */
    @Nullable
    Task next();

    void next(@Nullable Task task);

    /** What it waited for last, or null; written by its owner. */
    @Nullable
    Parked parked();

    /** Notes what it is about to wait for; the first time it also sees to it that {@link Parked#abandon} follows its future. */
    void parked(Parked parked);

    /** What the slice just run has left to do. */
    enum After {
        /** The task is over. */
        ENDED,
        /** It goes on behind what waits. */
        YIELDED,
        /** It goes on when {@link TaskContext#step} says. */
        PARKED,
        /** It goes on after the parts that {@link TaskContext#step} names. */
        FORKED
    }

    /** What became of a task. */
    enum Outcome {
        COMPLETED,
        FAILED,
        CANCELLED,
        EXPIRED
    }

    long NO_DEADLINE = Long.MIN_VALUE;

    /** Stands for the time of submission where it was not read. */
    long NOT_TIMED = Long.MIN_VALUE;

    /** Whether its deadline has passed at {@code nanos}. */
    default boolean expired(long nanos) {
        return deadlineNanos() != NO_DEADLINE && nanos - deadlineNanos() > 0;
    }
}
