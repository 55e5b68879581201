package io.github.roost.core.pool;

/**
 * The counters of one worker since it started.
 *
 * @param completed number of tasks that returned a result
 * @param failed number of tasks that threw an exception
 * @param cancelled number of tasks whose future was done before they were
 * @param expired number of tasks whose deadline passed before they started or resumed
 * @param intraSteals number of tasks stolen from other workers of the domain
 * @param crossSteals number of tasks stolen from other domains
 * @param waitsTimed number of tasks whose waits are in {@code waitNanos}
 * @param waitNanos total time from submission to the last slice of these tasks, in nanoseconds
 * @param runsTimed number of ended tasks, whose runs are in {@code runNanos}
 * @param runNanos total time of slices, in nanoseconds
 * @param parks number of times the worker went to sleep without a time limit
 */
public record WorkerTotals(
        long completed,
        long failed,
        long cancelled,
        long expired,
        long intraSteals,
        long crossSteals,
        long waitsTimed,
        long waitNanos,
        long runsTimed,
        long runNanos,
        long parks) {}
