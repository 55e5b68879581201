package io.github.roost.core.pool;

import io.github.roost.core.task.GroupTask;
import io.github.roost.core.task.Task;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ObjIntConsumer;

/** Tasks of accepted requests that are made and not yet placed, and the worker of each if it is chosen. Not thread-safe. */
public final class Held {
    /** Stands for a worker that is not chosen yet. */
    static final int NO_WORKER = -1;

    private final List<Task> tasks = new ArrayList<>();
    private int[] workers = {};

    /** @param worker the task's worker, in whose domain room was taken for it, or {@link #NO_WORKER} */
    void add(Task task, int worker) {
        if (tasks.size() == workers.length) {
            workers = Arrays.copyOf(workers, Math.max(8, 2 * workers.length));
        }
        workers[tasks.size()] = worker;
        tasks.add(task);
    }

    int size() {
        return tasks.size();
    }

    void forEach(ObjIntConsumer<Task> each) {
        for (int i = 0; i < tasks.size(); i++) {
            each.accept(tasks.get(i), workers[i]);
        }
    }

    /**
     * Runs each task elsewhere. All groups are taken before: a query that the code of one submits, and waits for, must not count on a task that
     * runs after that code.
     */
    public void runEach(CallerRunner callers) {
        for (Task task : tasks) {
            if (task instanceof GroupTask group) {
                group.takeGroup();
            }
        }
        tasks.forEach(callers::run);
    }

    void clear() {
        tasks.clear();
    }
}
