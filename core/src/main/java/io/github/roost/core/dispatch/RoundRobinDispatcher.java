package io.github.roost.core.dispatch;

import io.github.roost.core.mapping.Mapping;

/** The dispatcher of V0 and V1: every worker in turn, regardless of the mapping. */
public final class RoundRobinDispatcher implements Dispatcher {
    private final int workers;

    /**
     * Creates a dispatcher for the workers of a machine.
     *
     * @param layout the workers
     */
    public RoundRobinDispatcher(WorkerLayout layout) {
        this.workers = layout.workers();
    }

    @Override
    public int worker(int slot, Mapping mapping, LoadView load, long ticket) {
        return (int) Long.remainderUnsigned(ticket, workers);
    }
}
