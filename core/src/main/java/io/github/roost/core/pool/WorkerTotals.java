package io.github.roost.core.pool;

/**
 * What one worker has counted since it started.
 *
 * @param completed tasks that returned a result
 * @param failed tasks that threw
 * @param cancelled tasks whose future was done before they were
 * @param expired tasks whose deadline passed before they started
 * @param intraSteals tasks taken from another worker of the domain
 * @param crossSteals tasks taken from another domain
 * @param waitsTimed tasks whose waits are in the next sum
 * @param waitNanos time those tasks waited, in total, in nanoseconds
 * @param runsTimed tasks whose runs are in the next sum
 * @param runNanos time those tasks ran, in total, in nanoseconds
 * @param parks how often the worker went to sleep
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
