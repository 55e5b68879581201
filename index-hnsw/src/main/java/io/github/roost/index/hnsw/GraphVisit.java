package io.github.roost.index.hnsw;

import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.vector.SearchCost;

/** One search on its way through graphs: whether its result is still wanted, and what it has cost. Belongs to the search. */
final class GraphVisit {
    private final SearchContext context;
    private final long limit;
    private boolean cutShort;
    private long visited;
    private long expanded;

    GraphVisit(SearchContext context) {
        this(context, Long.MAX_VALUE);
    }

    /** @param limit how many vectors may be compared */
    GraphVisit(SearchContext context, long limit) {
        this.context = context;
        this.limit = limit;
    }

    /** How many vectors may still be compared. */
    long left() {
        return Math.max(0, limit - visited);
    }

    /** Whether a search that has compared so many vectors more is to end; from then on it is one that was cut short. */
    boolean endsAt(long compared) {
        boolean ends = visited + compared >= limit;
        cutShort |= ends;
        return ends;
    }

    /** Of rows {@code from} to {@code end} exclusive after which one the search is to end. */
    int lastOf(int from, int end) {
        int last = (int) Math.min(end, from + Math.min(left(), Integer.MAX_VALUE));
        cutShort |= last < end;
        return last;
    }

    boolean isCutShort() {
        return cutShort;
    }

    /** Ends a search whose result nobody wants any more; to be asked at least every 50 us. */
    void requireWanted() {
        if (context.expired()) {
            // Where it was cancelled the future is done, and what is thrown is seen by nobody.
            throw new DeadlineExceededException();
        }
    }

    /** Counts vectors that were compared, which are traffic of the table too. */
    void compared(long vectors, long nodesExpanded, long bytes) {
        visited += vectors;
        expanded += nodesExpanded;
        context.touched(vectors, bytes);
    }

    /** Counts vectors that were compared with several queries, and read once. */
    void comparedOnce(long vectors, int queries, long bytes) {
        visited += vectors * queries;
        context.touched(vectors * queries, bytes);
    }

    SearchCost cost() {
        return new SearchCost(visited, expanded);
    }
}
