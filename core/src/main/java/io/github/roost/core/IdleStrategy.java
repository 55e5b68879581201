package io.github.roost.core;

/** How long a worker that finds nothing to run keeps looking before it sleeps. Shared by all workers: stateless. */
@FunctionalInterface
public interface IdleStrategy {
    /**
     * Asked after every fruitless look.
     *
     * @param looks fruitless looks since the worker last ran something, from 1
     * @return true to look again at once, false to sleep until there is work
     */
    boolean looksAgain(int looks);

    /** Looks this many times, then sleeps. */
    static IdleStrategy spinThenPark(int looks) {
        return count -> count < looks;
    }

    /** Never sleeps: for cores that nothing else may use. Costs a whole core per worker even when idle. */
    static IdleStrategy spin() {
        return count -> true;
    }
}
