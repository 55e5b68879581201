package io.github.roost.core.policy;

/**
 * How many queries that wait for one mapping id are served together. A group reads a list once, which saves memory bandwidth
 * the more the larger it is; but it is one task, so one worker serves in turn what several could serve at once, and every query in a
 * group waits for the whole group. So while any worker is free groups are small, and several workers serve one list at
 * once; where all are busy groups are as large as a latency budget allows. Pure: the pool and the simulator ask it.
 *
 * @param whileFree queries of a group at most while workers are free; at least 1
 * @param least queries of a group where all are busy, however long they take; at least {@code whileFree}
 * @param most queries of a group, at least {@code least}
 * @param budgetNanos how long a group of more than {@code least} queries may take, in nanoseconds, at least 1
 */
public record GroupRule(int whileFree, int least, int most, long budgetNanos) {
    /**
     * One query while workers are free, so that sharing is never slower than no sharing; else 4, each of which costs less than half
     * of a lone one, to 64 that take at most 200 microseconds.
     */
    public static final GroupRule DEFAULT = new GroupRule(1, 4, 64, 200_000);

    /** One part in so many of what a time differs from the mean goes into the mean. */
    private static final int SMOOTHING = 8;

    /** Checks the sizes and the budget. */
    public GroupRule {
        if (whileFree < 1) {
            throw new IllegalArgumentException(
                    "queries of a group while workers are free must be at least 1, got " + whileFree);
        }
        if (least < whileFree) {
            throw new IllegalArgumentException(
                    "least queries of a group must be at least those while workers are free, " + whileFree + ", got "
                            + least);
        }
        if (most < least) {
            throw new IllegalArgumentException(
                    "most queries of a group must be at least the least, " + least + ", got " + most);
        }
        if (budgetNanos < 1) {
            throw new IllegalArgumentException("budget of a group must be at least 1 ns, got " + budgetNanos);
        }
    }

    /**
     * Queries of a group.
     *
     * @param nanosPerQuery what a query of a group takes, by {@link #measured}; 0 where nothing was measured yet
     * @param workersFree whether any worker has nothing to do
     * @return from {@code whileFree} to {@code most}
     */
    public int size(long nanosPerQuery, boolean workersFree) {
        if (workersFree) {
            return whileFree;
        }
        return nanosPerQuery <= 0 ? least : Math.clamp(budgetNanos / nanosPerQuery, least, most);
    }

    /**
     * Whether a query that joins is to have another task queued: those that are queued have their groups.
     *
     * @param waiting queries that wait, this one included
     * @param tasks that are queued and have taken no group yet
     * @param size of groups now
     * @return whether to queue a task
     */
    public static boolean needsTask(int waiting, int tasks, int size) {
        return waiting > (long) tasks * size;
    }

    /**
     * How many of the queries that wait a task takes: its fair share. Where {@link #needsTask} was heeded, with whatever sizes,
     * that is never above the largest of them, and those that are left are never more than the other tasks can take.
     *
     * @param waiting queries that wait
     * @param tasks that are queued, this one included, at least 1
     * @return 0 where none waits
     */
    public static int taken(int waiting, int tasks) {
        return Math.ceilDiv(waiting, tasks);
    }

    /**
     * The mean time per query after one more group.
     *
     * @param before the mean; 0 for none
     * @param nanos what the group took
     * @param queries in the group, at least 1
     * @return at least 1
     */
    public static long measured(long before, long nanos, int queries) {
        long each = Math.max(1, nanos / queries);
        return before == 0 ? each : Math.max(1, before + (each - before) / SMOOTHING);
    }
}
