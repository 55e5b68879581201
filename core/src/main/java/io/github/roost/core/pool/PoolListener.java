package io.github.roost.core.pool;

/** Told of what happens on workers. Called on the worker's thread: must be quick and must not throw. */
public interface PoolListener {
    /** A worker took a task of mapping id {@code slot} from a worker of another domain. */
    void crossSteal(int thief, int victim, int slot);

    /** A task of mapping id {@code slot} ran for {@code nanos} nanoseconds. */
    void ran(int slot, int worker, long nanos);

    /** A worker was struck by an error that was no task's own, and goes on. */
    void workerRestarted(int worker);
}
