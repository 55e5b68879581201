package io.github.roost.index.hnsw;

import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.vector.SearchCost;

/** One search on its way through graphs: whether its result is still wanted, and what it has cost. Belongs to the search. */
final class GraphVisit {
    private final SearchContext context;
    private long visited;
    private long expanded;

    GraphVisit(SearchContext context) {
        this.context = context;
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

    SearchCost cost() {
        return new SearchCost(visited, expanded);
    }
}
