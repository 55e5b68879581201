package io.github.roost.core.policy;

/**
 * Determines how long a worker that finds nothing to run keeps looking before it sleeps. All workers share one instance, so it
 * must be stateless or thread-safe. If it throws, the worker does not call it again and sleeps as soon as it finds nothing.
 */
@FunctionalInterface
public interface IdleStrategy {
    /**
     * Called after each look for tasks that found none.
     *
     * @param looks number of looks without success since the worker last ran a task, from 1
     * @return true to look again at once, false to sleep until there is work
     */
    boolean looksAgain(int looks);

    /**
     * A strategy that looks a number of times and then sleeps; for workers that share their cores with other programs.
     *
     * @param looks number of looks before the worker sleeps; 0 or 1 to sleep after the first
     * @return the strategy
     */
    static IdleStrategy spinThenPark(int looks) {
        return count -> count < looks;
    }

    /**
     * A strategy that never sleeps; for cores that no other program uses. Costs a whole core per worker even when idle.
     *
     * @return the strategy
     */
    static IdleStrategy spin() {
        return count -> true;
    }
}
