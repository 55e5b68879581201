package io.github.roost.core.dispatch;

/**
 * How many tasks of a queue have waited for long, known without a clock per task. A queue has two counters that only grow: the
 * tasks ever put and the tasks ever taken. Its head has the place {@code taken}. Whoever looks at the queue marks its end twice
 * per bound and keeps two marks: when a third is due, what was put before the first and still waits has waited for the bound. So
 * a task becomes old between one and one and a half bounds after it was put, plus the intervals of three looks. Immutable and
 * pure: the pool and the simulator keep one per queue and replace it by {@link #next}.
 *
 * @param firstPlace number of tasks ever put when the mark before the last was made
 * @param lastPlace number of tasks ever put when the last mark was made, at least {@code firstPlace}
 * @param lastAt {@link System#nanoTime()} of the last mark; means nothing if no task from before it waits
 * @param oldPlaces places below this are old: a task there that still waits has waited for the bound
 */
public record QueueAge(long firstPlace, long lastPlace, long lastAt, long oldPlaces) {
    /** The age of a new queue. */
    public static final QueueAge NONE = new QueueAge(0, 0, 0, 0);

    /**
     * The age updated by a look at the queue.
     *
     * @param taken number of tasks ever taken; if it changes meanwhile, read before {@code put}
     * @param put number of tasks ever put, at least {@code taken}
     * @param now {@link System#nanoTime()}
     * @param boundNanos waiting time from which a task is old, in nanoseconds, at least 0
     * @return the new state; this if nothing has changed
     */
    public QueueAge next(long taken, long put, long now, long boundNanos) {
        boolean isEmpty = put <= taken;
        boolean isMarked = lastPlace > taken && now - lastAt < boundNanos - boundNanos / 2;
        return isEmpty || isMarked ? this : new QueueAge(lastPlace, put, now, firstPlace);
    }

    /**
     * The number of waiting tasks that are old. They are the first of the queue.
     *
     * @param taken number of tasks ever taken
     * @return at least 0
     */
    public long old(long taken) {
        return Math.max(0, oldPlaces - taken);
    }
}
