package io.github.roost.core.dispatch;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.policy.SchedulingPolicy;

/** Chooses the worker whose queue a task is put into. Pure: all its input is passed as arguments. Thread-safe. */
public interface Dispatcher {
    /**
     * The dispatcher of a scheduling policy.
     *
     * @param policy determines whether tasks go to the homes of their mapping ids, or to every worker in turn
     * @param layout the workers
     * @return a dispatcher
     */
    static Dispatcher of(SchedulingPolicy policy, WorkerLayout layout) {
        int workers = layout.workers();
        return policy.usesHomes()
                ? new HomeDomainDispatcher(layout)
                : (slot, mapping, load, ticket) -> (int) Long.remainderUnsigned(ticket, workers);
    }

    /**
     * Chooses the worker for a task.
     *
     * @param slot the slot of the task's mapping id
     * @param mapping the mapping that the task is dispatched under
     * @param load the load of the workers
     * @param ticket a number per task: consecutive for round robin, random otherwise
     * @return index of the worker
     */
    int worker(int slot, Mapping mapping, LoadView load, long ticket);
}
