package io.github.roost.index.ivf;

import io.github.roost.core.SearchContext;

/** The context of a task that scans several lists, for the scan of one. Belongs to the thread that runs the task. */
final class ListContext implements SearchContext {
    private final SearchContext task;
    private long nodes;
    private long bytes;

    ListContext(SearchContext task) {
        this.task = task;
    }

    long nodes() {
        return nodes;
    }

    long bytes() {
        return bytes;
    }

    @Override
    public void touched(long moreNodes, long moreBytes) {
        nodes += moreNodes;
        bytes += moreBytes;
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
