package io.github.roost.core.pool;

import org.jspecify.annotations.Nullable;

/**
 * The task that a runner has taken from a queue, until its slice has run; code that catches an error fails it. Used only by the
 * runner's thread.
 */
final class TaskInHand {
    private final Worker worker;
    private final ShardState shard;
    private final Endings endings;

    private @Nullable Task task;
    /** Whether the task is claimed. */
    private boolean owned;
    /** The domain that the task was taken from if it is not this worker's domain, else -1. */
    private int strayedFrom = -1;
    /** The worker that the stray task was taken from. */
    private int victim;

    TaskInHand(Worker worker, WorkerPool pool) {
        this.worker = worker;
        this.shard = pool.shard(worker.shard);
        this.endings = pool.endings();
    }

    @Nullable
    Task task() {
        return task;
    }

    boolean isOwned() {
        return owned;
    }

    boolean isStray() {
        return strayedFrom >= 0;
    }

    /** The worker that the last stray task was taken from. */
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

    /** Marks the task as taken from a worker of another domain, and counts it as a stray. */
    void straysFrom(Worker other) {
        victim = other.index;
        strayedFrom = other.domain;
        shard.strayBegins();
    }

    /** Takes the mark of a stray off the task: the domain that it was taken from, or -1. The caller counts the stray out. */
    int unmarkStray() {
        int from = strayedFrom;
        strayedFrom = -1;
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
        if (strayedFrom >= 0) {
            strayedFrom = -1;
            shard.strayEnds();
        }
        if (failed != null && (owned || failed.claim())) {
            endings.failOwned(failed, worker, cause);
        }
    }
}
