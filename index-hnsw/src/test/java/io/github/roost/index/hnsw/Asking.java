package io.github.roost.index.hnsw;

import io.github.roost.core.Neighbors;
import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.VectorTable;
import java.util.concurrent.CompletableFuture;

/** Searches whose cost a test does not ask for. */
final class Asking {
    private Asking() {}

    static CompletableFuture<Neighbors> neighbors(VectorTable table, SearchRequest request) {
        return table.search(request).thenApply(SearchResult::neighbors);
    }
}
