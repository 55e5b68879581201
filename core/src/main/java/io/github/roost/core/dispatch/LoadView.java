package io.github.roost.core.dispatch;

/** How loaded workers are, as a dispatcher sees it. May be a moment old. */
@FunctionalInterface
public interface LoadView {
    /**
     * Tasks that wait in a worker's rings, plus one while it runs one.
     *
     * @param worker from 0 to the number of workers exclusive
     * @return at least 0; may be a moment old
     */
    int load(int worker);

    /**
     * Whether none of the workers that share a shard with one sleeps: who has nothing to run is looking for tasks then, and
     * finds them wherever they wait. Cheaper to say than {@link #load}, since it changes less often.
     *
     * @param worker from 0 to the number of workers exclusive
     * @return may be a moment old; by default false: then the dispatcher compares loads
     */
    default boolean noneAsleepBeside(int worker) {
        return false;
    }

    /**
     * The worker of the core that the calling thread runs on, where a task for another worker of its domain had better wait
     * there: tasks are so short that to hand one to another core costs more than that core's private cache saves it.
     *
     * @param worker from 0 to the number of workers exclusive, where the task would wait otherwise
     * @return a worker of the same domain, or -1; by default -1
     */
    default int nearCaller(int worker) {
        return -1;
    }
}
