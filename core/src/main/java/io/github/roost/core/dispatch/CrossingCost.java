package io.github.roost.core.dispatch;

/**
 * What it costs a domain's tasks to run in another domain, by what was measured: time per byte read there and at home. Where
 * tables are so large that searches miss the cache at home as well, crossing costs next to nothing, and to wait for nothing is
 * all that a gate would bring. A task that crosses loses that time itself, and, where most workers are at work, about as much again for
 * the searches whose data it displaces; so crossing pays where the wait at home is longer. Where too few tasks have crossed to know, one may
 * now and then, to find out. Immutable and pure: the pool and the simulator keep one per domain and replace it.
 *
 * @param homeNanos time of tasks at home, older ones counting less
 * @param homeBytes that they have read
 * @param strayNanos time of tasks that have crossed, older ones counting less
 * @param strayBytes that they have read
 * @param strays how many of these are counted
 * @param sinceStray tasks at home since the last that has crossed
 */
public record CrossingCost(
        double homeNanos, double homeBytes, double strayNanos, double strayBytes, double strays, int sinceStray) {
    /** Nothing is known, nor is there traffic by which it could be: crossing never pays. */
    public static final CrossingCost UNKNOWN = new CrossingCost(0, 0, 0, 0, 0, 0);

    /** One of so many tasks of a worker at home is measured: all would write one line of memory for each. */
    public static final int TASKS_PER_MEASURE = 16;

    /** What is kept of the sums at each further task: they stand for some 64. */
    private static final double KEPT = 1 - 1 / 64.0;
    /** Strays that must be counted for a ratio. */
    private static final double ENOUGH = 4;
    /** Strays from which on nobody needs to find out. */
    private static final double PLENTY = 32;
    /** Tasks at home for each that crosses to find out: 1.5 %. */
    private static final int TASKS_PER_TRIAL = 64;
    /** What the task loses. */
    private static final double OWN = 1;
    /** What the task loses, and what those lose whose data it displaces. */
    private static final double OWN_AND_OTHERS = 2;

    /**
     * After a task at home.
     *
     * @param nanos that it took
     * @param bytes that it read, above 0
     * @param tasks for how many it stands, at least 1
     * @return what is known now
     */
    public CrossingCost atHome(long nanos, long bytes, int tasks) {
        return new CrossingCost(
                homeNanos * KEPT + nanos,
                homeBytes * KEPT + bytes,
                strayNanos,
                strayBytes,
                strays,
                Math.min(TASKS_PER_TRIAL, sinceStray + tasks));
    }

    /**
     * After a task that has crossed.
     *
     * @param nanos that it took
     * @param bytes that it read, above 0
     * @return what is known now
     */
    public CrossingCost strayed(long nanos, long bytes) {
        return new CrossingCost(
                homeNanos, homeBytes, strayNanos * KEPT + nanos, strayBytes * KEPT + bytes, strays * KEPT + 1, 0);
    }

    /**
     * Whether the next task of the domain had better cross than wait.
     *
     * @param waiting tasks that wait there
     * @param workers of the domain, all of them busy
     * @param mostBusyThere whether more than half of the workers are at work where the task would run: else it displaces little
     *     that anybody reads
     * @return whether the wait is predicted to be longer than what crossing costs
     */
    public boolean pays(int waiting, int workers, boolean mostBusyThere) {
        if (waiting == 0) {
            return false;
        }
        boolean trial = sinceStray >= TASKS_PER_TRIAL && strays < PLENTY;
        double losses = mostBusyThere ? OWN_AND_OTHERS : OWN;
        return trial || (strays >= ENOUGH && homeBytes > 0 && waiting > losses * slowdown() * workers);
    }

    /** {@return how much longer a task takes away from home, as a share of its time at home, at least 0; 0 where it is not known} */
    public double slowdown() {
        return homeNanos == 0 || strayBytes == 0
                ? 0
                : Math.max(0, strayNanos / strayBytes / (homeNanos / homeBytes) - 1);
    }
}
