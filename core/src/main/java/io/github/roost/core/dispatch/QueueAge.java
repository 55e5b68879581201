package io.github.roost.core.dispatch;

/**
 * How many tasks of a queue have waited for long, known without a clock per task. A queue has two counters that only grow: the
 * tasks ever put and the tasks ever taken. Its head has the place {@code taken}. Whoever watches the queue marks its end: what
 * was put before the mark and still waits when the mark is as old as a bound has waited for the bound. So a task becomes old
 * between one and two bounds after it was put, plus the interval of the looks. Immutable and pure: the pool and the simulator
 * keep one per queue and replace it by {@link #next}.
 *
 * @param markedPlace number of tasks ever put when the mark was made
 * @param markedAt {@link System#nanoTime()} of the mark; means nothing if no task from before the mark waits
 * @param oldPlaces places below this are old: a task there that still waits has waited for the bound
 */
public record QueueAge(long markedPlace, long markedAt, long oldPlaces) {
    /** The age of a new queue. */
    public static final QueueAge NONE = new QueueAge(0, 0, 0);

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
        if (markedPlace <= taken) {
            return put <= taken ? this : new QueueAge(put, now, oldPlaces);
        }
        return now - markedAt < boundNanos ? this : new QueueAge(put, now, markedPlace);
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
