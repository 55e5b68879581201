package io.github.roost.index.hnsw;

import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.graph.GraphVisit;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import org.jspecify.annotations.Nullable;

/** The rows of a table and their searches, which run on workers. Nothing in a search returns to the table. Thread-safe. */
abstract sealed class TableSearch implements SearchFunction<SearchRequest, SearchResult> permits FixedRows, LiveParts {
    private static final int MIN_DEFAULT_EF = 100;

    /** The ef of searches that set none. */
    static int defaultEf(int k) {
        return Math.max(MIN_DEFAULT_EF, 2 * k);
    }

    @Override
    public SearchResult search(SearchRequest request, SearchContext context) {
        GraphVisit visit = new GraphVisit(context, request.visitLimit());
        int ef = request.effortOr(defaultEf(request.k()));
        return find(request.query(), request.k(), ef, request.filter(), visit)
                .within(request.radius())
                .with(visit.cost(), visit.isCutShort());
    }

    /** Finds the k nearest rows that a filter allows; the arguments have been checked. The visit has the cost. */
    abstract SearchResult find(float[] query, int k, int ef, IdFilter filter, GraphVisit visit);

    /** Finds the k nearest rows by an exhaustive scan. */
    abstract SearchResult exact(float[] query, int k, GraphVisit visit);

    /** The vector of a row, numbered in memory order, or null if the row is deleted. */
    abstract float @Nullable [] vector(int row);

    /** The number of rows, deleted ones included. */
    abstract int rows();
}
