package io.github.roost.core.spi;

/**
 * The rule for the size of the groups in which queries of one mapping id are served. A group reads its list once, so larger
 * groups save more memory bandwidth. But a group is one task: one worker serves its queries in turn, and each query waits for
 * the whole group. So groups are small while any worker is free, and several workers serve one list at once; if all workers are
 * busy, groups are as large as a latency budget allows. Immutable and pure: used by the pool and the simulator.
 *
 * @param whileFree maximum number of queries per group while workers are free; at least 1
 * @param min minimum size of groups, in queries, while all workers are busy, whatever the budget; at least {@code whileFree}
 * @param max maximum number of queries per group, at least {@code min}
 * @param budgetNanos maximum time of a group of more than {@code min} queries, in nanoseconds, at least 1
 */
public record GroupRule(int whileFree, int min, int max, long budgetNanos) {
    /**
     * One query per group while workers are free, so that sharing is never slower than no sharing. Otherwise 4 to 64 queries in at
     * most 200 microseconds; a query in a group of 4 costs less than half of a query alone.
     */
    public static final GroupRule DEFAULT = new GroupRule(1, 4, 64, 200_000);

    /** One query per group, always: nothing is shared. */
    public static final GroupRule ALONE = new GroupRule(1, 1, 1, 1);

    /** A new time moves the mean by its difference from the mean, divided by this. */
    private static final int SMOOTHING = 8;

    /** Checks the sizes and the budget. */
    public GroupRule {
        if (whileFree < 1) {
            throw new IllegalArgumentException(
                    "queries of a group while workers are free must be at least 1, got " + whileFree);
        }
        if (min < whileFree) {
            throw new IllegalArgumentException(
                    "the min queries per group must be at least the min while workers are free, " + whileFree + ", got "
                            + min);
        }
        if (max < min) {
            throw new IllegalArgumentException(
                    "the max queries per group must be at least the min, " + min + ", got " + max);
        }
        if (budgetNanos < 1) {
            throw new IllegalArgumentException("budget of a group must be at least 1 ns, got " + budgetNanos);
        }
    }

    /**
     * The target size of a group.
     *
     * @param nanosPerQuery mean time per query by {@link #measured}, in nanoseconds; 0 if not measured
     * @param workersFree whether any worker has nothing to do
     * @return from {@code whileFree} to {@code max}
     */
    public int size(long nanosPerQuery, boolean workersFree) {
        if (workersFree) {
            return whileFree;
        }
        return nanosPerQuery <= 0 ? min : Math.clamp(budgetNanos / nanosPerQuery, min, max);
    }

    /**
     * Whether a query that joins needs another task, because the queued tasks do not suffice for all waiting queries.
     *
     * @param waiting number of waiting queries, this one included
     * @param tasks number of queued tasks that have not taken a group
     * @param size target size of groups now
     * @return whether to queue a task
     */
    public static boolean needsTask(int waiting, int tasks, int size) {
        return waiting > (long) tasks * size;
    }

    /**
     * The number of waiting queries that a task takes: its fair share. If every {@link #needsTask} was followed, this is never
     * above the largest size passed to it, and the other tasks have enough room for the queries that are left.
     *
     * @param waiting number of waiting queries
     * @param tasks number of queued tasks, this one included, at least 1
     * @return the number of queries to take; 0 if none waits
     */
    public static int taken(int waiting, int tasks) {
        return Math.ceilDiv(waiting, tasks);
    }

    /**
     * The mean time per query after one more group.
     *
     * @param before the mean so far, in nanoseconds; 0 for none
     * @param nanos time of the group, in nanoseconds
     * @param queries number of queries in the group, at least 1
     * @return the new mean in nanoseconds, at least 1
     */
    public static long measured(long before, long nanos, int queries) {
        long each = Math.max(1, nanos / queries);
        return before == 0 ? each : Math.max(1, before + (each - before) / SMOOTHING);
    }
}
