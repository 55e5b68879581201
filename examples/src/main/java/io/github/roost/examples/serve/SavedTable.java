package io.github.roost.examples.serve;

import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.VectorTable;
import io.github.roost.examples.serve.SearchAnswer.Ran;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A table of any index as it was saved: its rows have ids and no words, and it takes no changes, which its file would not have.
 *
 * @param rows the table
 */
record SavedTable(VectorTable rows) implements ServedTable {
    /** A search, which the index may share among several workers. Cancelling it ends it. */
    CompletableFuture<List<Found>> search(SearchRequest request) {
        CompletableFuture<SearchResult> search = rows.search(request);
        CompletableFuture<List<Found>> found = search.thenApply(result -> List.of(found(result)));
        var _ = found.whenComplete((result, failure) -> search.cancel(false));
        return found;
    }

    private Found found(SearchResult result) {
        return new Found(this, result.neighbors(), neighbor -> Optional.empty(), Ran.byWhoever(name(), result.cost()));
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
