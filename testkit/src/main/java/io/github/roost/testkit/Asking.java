package io.github.roost.testkit;

import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Searches whose cost a test does not ask for. */
public final class Asking {
    private Asking() {}

    public static List<CompletableFuture<SearchResult>> all(
            VectorTable table, List<float[]> queries, int k, int effort) {
        return table.searchAll(queries.stream()
                .map(query -> SearchRequest.of(query, k).effort(effort))
                .toList());
    }
}
