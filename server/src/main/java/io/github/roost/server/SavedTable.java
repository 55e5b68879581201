package io.github.roost.server;

import io.github.roost.server.SearchAnswer.Ran;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A saved table of any index. Its rows have ids but no words. It is read-only, since changes would not be saved.
 *
 * @param rows the table
 */
record SavedTable(VectorTable rows) implements ServedTable {
    /** A search, which the index may split among several workers. Cancelling the future cancels it. */
    CompletableFuture<List<ServedResult>> search(SearchRequest request) {
        CompletableFuture<SearchResult> search = rows.search(request);
        CompletableFuture<List<ServedResult>> found = search.thenApply(result -> List.of(found(result)));
        var _ = found.whenComplete((result, failure) -> search.cancel(false));
        return found;
    }

    private ServedResult found(SearchResult result) {
        return new ServedResult(this, result, neighbor -> Optional.empty(), Ran.byWhoever(name(), result.cost()));
    }

    @Override
    public Optional<Item> item(long id) {
        return Optional.empty();
    }

    @Override
    public Optional<float[]> vectorOf(String name) {
        try {
            return Optional.ofNullable(rows.vector(Long.parseLong(name)));
        } catch (NumberFormatException noId) {
            return Optional.empty();
        }
    }
}
