package io.github.roost.index.ivf;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;

/** The context of a task that scans several lists, for one of them: what the scan touches is the traffic of that list. */
record ListContext(SearchContext task, MappingId list, Orchestrator orchestrator) implements SearchContext {
    @Override
    public void touched(long nodes, long bytes) {
        orchestrator.touched(list, task, nodes, bytes);
    }

    @Override
    public int worker() {
        return task.worker();
    }

    @Override
    public int domain() {
        return task.domain();
    }

    @Override
    public long epoch() {
        return task.epoch();
    }

    @Override
    public boolean expired() {
        return task.expired();
    }
}
