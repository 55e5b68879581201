package io.github.roost.core.pool;

import io.github.roost.core.placement.Epoch;

/**
 * Something that runs once on a worker. A task sits in at most one ring, but the thread that waits for its result may
 * run it too: whoever wins {@link #claim()} runs or fails it, everyone else leaves it alone.
 */
public interface Task {
    /** Takes the right to run or fail this task; true for exactly one caller. */
    boolean claim();

    /**
     * Runs the task, claimed before. Throws nothing: a failure of user code is the outcome of its future. Calls
     * {@link TaskContext#finished} once, before it completes the future, so that who sees the result sees it counted.
     */
    void run(TaskContext context);

    /** Fails the future of the task without running it. */
    void fail(Throwable cause);

    /** Slot of its mapping id. */
    int slot();

    /** The epoch it was dispatched under. */
    Epoch epoch();

    /** {@link System#nanoTime()} at submission, or {@link #NOT_TIMED}. */
    long submittedNanos();

    /** {@link System#nanoTime()} after which it must not start, or {@link #NO_DEADLINE}. */
    long deadlineNanos();

    /** Whether nobody waits for its result any more. */
    boolean abandoned();

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
