package io.github.roost.server;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The body of a search request; has exactly one of {@code vector} and {@code like}.
 *
 * @param vector the query
 * @param like the id or the name of a row of any table, or a known phrase; its vector is the query
 * @param k number of neighbors
 * @param effort the effort of the search in each table; absent for the tables' own
 * @param targetRecall the recall for which each table chooses its effort; absent for the tables' own effort
 * @param filter restricts the rows; absent for all rows
 * @param deadlineMs deadline in milliseconds; absent for the service's own limit
 * @param ran whether the answer has where each table was searched; absent for yes
 */
record SearchBody(
        float @Nullable [] vector,
        @Nullable JsonNode like,
        @Nullable Integer k,
        @Nullable Integer effort,
        @Nullable Double targetRecall,
        @Nullable Filter filter,
        @Nullable Integer deadlineMs,
        @Nullable Boolean ran) {
    static final int DEFAULT_K = 10;

    /**
     * A filter of rows: all given conditions must hold.
     *
     * @param ids only these
     * @param notIds none of these
     * @param nameContains only rows whose name contains this
     * @param attributes only rows that have one of the given values of each of these
     */
    record Filter(
            @Nullable List<JsonNode> ids,
            @Nullable List<JsonNode> notIds,
            @Nullable String nameContains,
            @Nullable Map<String, JsonNode> attributes) {}

    boolean wantsRan() {
        return ran == null || ran;
    }

    int neighbors() {
        return k == null ? DEFAULT_K : k;
    }
}
