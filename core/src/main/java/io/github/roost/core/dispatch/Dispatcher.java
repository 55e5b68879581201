package io.github.roost.core.dispatch;

import io.github.roost.core.mapping.Mapping;

/** Decides which worker's ring a task is put into. Pure: everything it knows is passed in. */
public interface Dispatcher {
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
