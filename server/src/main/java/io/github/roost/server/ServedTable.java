package io.github.roost.server;

import io.github.roost.server.SearchAnswer.Ran;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A table that a service searches. Thread-safe. */
sealed interface ServedTable permits DescribedTable, SavedTable {
    VectorTable rows();

    default String name() {
        return rows().name();
    }

    /** The words of a row; empty for a row without words, or if there is no such row. */
    Optional<Item> item(long id);

    /** The id of the row with a key. */
    Optional<Long> idOfKey(String key);

    /** The id of the row with a key, or whose id is this number. */
    default Optional<Long> idOf(String text) {
        return idOfKey(text).or(() -> number(text));
    }

    /** The vector of the row with a key or a name; a row without words has its id as its name. */
    Optional<float[]> vectorOf(String name);

    /** A search, which the index may split among several workers. Cancelling the future cancels it. */
    default CompletableFuture<List<ServedResult>> search(SearchRequest request) {
        CompletableFuture<SearchResult> search = rows().search(request);
        CompletableFuture<List<ServedResult>> found = search.thenApply(result -> List.of(new ServedResult(
                this, result, neighbor -> item(result.ids()[neighbor]), Ran.byWhoever(name(), result.cost()))));
        var _ = found.whenComplete((result, failure) -> search.cancel(false));
        return found;
    }

    /** The number that a text is; empty if it is none of 64 bits. */
    static Optional<Long> number(String text) {
        try {
            return Optional.of(Long.parseLong(text));
        } catch (NumberFormatException noId) {
            return Optional.empty();
        }
    }
}
