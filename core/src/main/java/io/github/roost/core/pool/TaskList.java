package io.github.roost.core.pool;

import org.jspecify.annotations.Nullable;

/**
 * Tasks that have begun, or were accepted without a place in a ring, first in first out. Unbounded, and needs no memory: the
 * tasks are linked through {@link Task#next()}, so putting one in never fails. Thread-safe. Whoever takes a task out owns it.
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

    /** How many there are; may be a moment old. */
    public int size() {
        return size;
    }
}
