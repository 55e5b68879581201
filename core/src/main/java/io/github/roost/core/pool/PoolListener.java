package io.github.roost.core.pool;

/** A listener for events on workers. Called on the worker's thread: must be fast and must not throw. */
public interface PoolListener {
    /** A worker took a task of mapping id {@code slot} from a worker of another domain. */
    void crossSteal(int thief, int victim, int slot);

    /** A task of mapping id {@code slot} ended after a last slice of {@code nanos} nanoseconds. */
    void ran(int slot, int worker, long nanos);

    /** An error that did not come from a task's own code has broken the pool. Called once, in any thread. */
    void broke(Throwable error);
}
