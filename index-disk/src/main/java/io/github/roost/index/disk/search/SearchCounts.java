package io.github.roost.index.disk.search;

import java.util.concurrent.atomic.LongAdder;

/** Counts of the completed searches of a table, and of the pages that its updates have read. Thread-safe. */
public final class SearchCounts {
    private final LongAdder searches = new LongAdder();
    private final LongAdder pagesRead = new LongAdder();
    private final LongAdder pagesInMemory = new LongAdder();
    private final LongAdder codesCompared = new LongAdder();
    private final LongAdder nodesExpanded = new LongAdder();
    private final LongAdder stalledNanos = new LongAdder();
    private final LongAdder busyNanos = new LongAdder();
    private final LongAdder updatePagesRead = new LongAdder();

    /** Counts a search that ended normally. */
    void add(long read, long inMemory, long expanded, long compared, long stalled, long busy) {
        searches.increment();
        pagesRead.add(read);
        pagesInMemory.add(inMemory);
        codesCompared.add(compared);
        nodesExpanded.add(expanded);
        stalledNanos.add(stalled);
        busyNanos.add(busy);
    }

    /** Counts a page read for an update. */
    public void addUpdatePage() {
        updatePagesRead.increment();
    }

    public long searches() {
        return searches.sum();
    }

    public long pagesRead() {
        return pagesRead.sum();
    }

    public long pagesInMemory() {
        return pagesInMemory.sum();
    }

    public long codesCompared() {
        return codesCompared.sum();
    }

    public long nodesExpanded() {
        return nodesExpanded.sum();
    }

    public long stalledNanos() {
        return stalledNanos.sum();
    }

    public long busyNanos() {
        return busyNanos.sum();
    }

    public long updatePagesRead() {
        return updatePagesRead.sum();
    }
}
