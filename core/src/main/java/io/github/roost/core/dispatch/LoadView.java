package io.github.roost.core.dispatch;

/** A dispatcher's view of the load of the workers. Values may be slightly stale. Thread-safe. */
@FunctionalInterface
public interface LoadView {
    /**
     * The load of a worker: the number of tasks that wait at it, plus one if it is running a task.
     *
     * @param worker from 0 to the number of workers exclusive
     * @return at least 0
     */
    int load(int worker);

    /**
     * Whether no worker of a worker's domain sleeps. Then idle workers are awake and find tasks wherever they wait. Cheaper to
     * read than {@link #load}, since it changes less often.
     *
     * @param worker from 0 to the number of workers exclusive
     * @return by default false: then the dispatcher compares loads
     */
    default boolean noneAsleepBeside(int worker) {
        return false;
    }

    /**
     * The worker on the calling thread's core, if a task should go to it instead of to another worker of the same domain: tasks
     * are so short that the handover to another core costs more than that core's private cache saves.
     *
     * @param worker the worker that the task would go to otherwise, from 0 to the number of workers exclusive
     * @return a worker of the same domain, or -1 to use {@code worker}; by default -1
     */
    default int nearCaller(int worker) {
        return -1;
    }
}
