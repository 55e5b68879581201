package io.github.roost.core.dispatch;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.policy.SchedulingPolicy;

/** Decides which worker's ring a task is put into. Pure: everything it knows is passed in. */
public interface Dispatcher {
    /**
     * The dispatcher of a scheduling policy.
     *
     * @param policy says whether tasks go to the homes of their mapping ids
     * @param layout the workers
     * @return a dispatcher
     */
    static Dispatcher of(SchedulingPolicy policy, WorkerLayout layout) {
        return policy.usesHomes() ? new HomeDomainDispatcher(layout) : new RoundRobinDispatcher(layout);
    }

    /**
     * Chooses where a task waits.
     *
     * @param slot the mapping id's slot
     * @param mapping the snapshot that the task is dispatched under
     * @param load how loaded the workers are
     * @param ticket a number that differs from task to task: consecutive for round robin, random otherwise
     * @return the worker
     */
    int worker(int slot, Mapping mapping, LoadView load, long ticket);
}
