package io.github.roost.core.policy;

/**
 * How long a worker that finds nothing to run keeps looking before it sleeps. Shared by all workers: stateless. A worker on
 * which it throws does not ask it again, and sleeps as soon as it finds nothing.
 */
@FunctionalInterface
public interface IdleStrategy {
    /**
     * Asked after every fruitless look.
     *
     * @param looks fruitless looks since the worker last ran something, from 1
     * @return true to look again at once, false to sleep until there is work
     */
    boolean looksAgain(int looks);

    /**
     * Looks this many times, then sleeps.
     *
     * @param looks how many, at least 0
     * @return for workers that share their cores with other programs
     */
    static IdleStrategy spinThenPark(int looks) {
        return count -> count < looks;
    }

    /**
     * Never sleeps: for cores that nothing else may use. Costs a whole core per worker even when idle.
     *
     * @return for workers that own their cores
     */
    static IdleStrategy spin() {
        return count -> true;
    }
}
