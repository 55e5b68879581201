package io.github.roost.core.pool;

import org.jspecify.annotations.Nullable;

/**
 * An unbounded FIFO list of tasks that have begun, or were accepted without a place in a ring. Tasks are linked through
 * {@link Task#next()}, so adding one allocates nothing and never fails. The thread that takes a task out owns it. Thread-safe.
 */
public final class TaskList {
    /** Guarded by this. */
    private @Nullable Task first;

    private @Nullable Task last;
    /** Written under the lock, after the link; read without it. */
    private volatile int size;

    public void add(Task task) {
        synchronized (this) {
            task.next(null);
            Task before = last;
            if (before == null) {
                first = task;
            } else {
                before.next(task);
            }
            last = task;
            size++;
        }
    }

    public @Nullable Task poll() {
        if (size == 0) {
            return null;
        }
        synchronized (this) {
            Task task = first;
            if (task != null) {
                first = task.next();
                task.next(null);
                if (first == null) {
                    last = null;
                }
                size--;
            }
            return task;
        }
    }

    /** The number of tasks; may be slightly stale. */
    public int size() {
        return size;
    }
}
