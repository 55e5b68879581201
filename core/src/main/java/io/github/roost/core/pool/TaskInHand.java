package io.github.roost.core.pool;

import org.jspecify.annotations.Nullable;

/**
 * The task that a runner has taken from a queue, until its slice has run; code that catches an error fails it. Used only by the
 * runner's thread.
 */
final class TaskInHand {
    private final Worker worker;
    private final ShardState shard;
    private final TaskCompletion completion;

    private @Nullable Task task;
    /** Whether the task is claimed. */
    private boolean owned;
    /** The domain that the task was taken from if it is not this worker's domain, else -1. */
    private int stolenFrom = -1;
    /** The worker that the stolen task was taken from. */
    private int victim;

    TaskInHand(Worker worker, WorkerPool pool) {
        this.worker = worker;
        this.shard = pool.shard(worker.shard);
        this.completion = pool.completion();
    }

    @Nullable
    Task task() {
        return task;
    }

    boolean isOwned() {
        return owned;
    }

    boolean isStolen() {
        return stolenFrom >= 0;
    }

    /** The worker that the last stolen task was taken from. */
    int victim() {
        return victim;
    }

    void take(@Nullable Task taken, boolean isClaimed) {
        task = taken;
        owned = isClaimed;
    }

    /** Takes a claimed task; false if there is none. */
    boolean takeOwned(@Nullable Task taken) {
        if (taken == null) {
            return false;
        }
        take(taken, true);
        return true;
    }

    /** Marks the task as taken from a worker of another domain, and counts it as stolen. */
    void stolenFromDomainOf(Worker other) {
        victim = other.index;
        stolenFrom = other.domain;
        shard.crossingBegins();
    }

    /** Takes the mark of a stolen task off it: the domain that it was taken from, or -1. The caller counts it out of the stolen tasks. */
    int clearStolen() {
        int from = stolenFrom;
        stolenFrom = -1;
        return from;
    }

    /** Called when the slice of the task has run. */
    void drop() {
        task = null;
    }

    /** Fails the task, if there is one that no other thread has claimed. */
    void fail(Throwable cause) {
        Task failed = task;
        task = null;
        if (stolenFrom >= 0) {
            stolenFrom = -1;
            shard.crossingEnds();
        }
        if (failed != null && (owned || failed.claim())) {
            completion.failOwned(failed, worker, cause);
        }
    }
}
