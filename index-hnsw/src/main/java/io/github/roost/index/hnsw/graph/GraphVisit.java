package io.github.roost.index.hnsw.graph;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.SearchContext;
import io.github.roost.vector.SearchCost;

/** The state of one search across graphs: expiry check, visit limit and cost. Used by one thread at a time. */
public final class GraphVisit {
    private final SearchContext context;
    private final long limit;
    private boolean cutShort;
    private long visited;
    private long expanded;

    public GraphVisit(SearchContext context) {
        this(context, Long.MAX_VALUE);
    }

    /**
     * A visit with a limit.
     *
     * @param limit max number of vectors to compare
     */
    public GraphVisit(SearchContext context, long limit) {
        this.context = context;
        this.limit = limit;
    }

    /** The number of vectors that may still be compared. */
    long left() {
        return Math.max(0, limit - visited);
    }

    /** Whether a search must end after this many more vectors; if so, the search counts as cut short. */
    boolean endsAt(long compared) {
        boolean ends = visited + compared >= limit;
        cutShort |= ends;
        return ends;
    }

    /** The exclusive end of the rows to scan from {@code from}: {@code end}, or less if the visit limit cuts the scan short. */
    public int lastOf(int from, int end) {
        int last = (int) Math.min(end, from + Math.min(left(), Integer.MAX_VALUE));
        cutShort |= last < end;
        return last;
    }

    public boolean isCutShort() {
        return cutShort;
    }

    /** Throws if the search has expired; must be called at least every 50 us. */
    public void requireWanted() {
        if (context.expired()) {
            // If the search was cancelled, its future is already done and nobody sees this exception.
            throw new DeadlineExceededException();
        }
    }

    /** Counts compared vectors, and reports them as traffic of the table. */
    void compared(long vectors, long nodesExpanded, long bytes) {
        visited += vectors;
        expanded += nodesExpanded;
        context.touched(vectors, bytes);
    }

    /** Counts vectors that were compared with several queries but read once. */
    void comparedOnce(long vectors, int queries, long bytes) {
        visited += vectors * queries;
        context.touched(vectors * queries, bytes);
    }

    public SearchCost cost() {
        return new SearchCost(visited, expanded);
    }
}
