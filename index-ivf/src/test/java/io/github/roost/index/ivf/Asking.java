package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.VectorTable;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Searches whose cost a test does not ask for. */
final class Asking {
    private Asking() {}

    static CompletableFuture<Neighbors> neighbors(VectorTable table, SearchRequest request) {
        return table.search(request).thenApply(SearchResult::neighbors);
    }

    static List<CompletableFuture<Neighbors>> all(VectorTable table, List<float[]> queries, int k, int effort) {
        return table
                .searchAll(queries.stream()
                        .map(query -> SearchRequest.of(query, k).effort(effort))
                        .toList())
                .stream()
                .map(answer -> answer.thenApply(SearchResult::neighbors))
                .toList();
    }
}
