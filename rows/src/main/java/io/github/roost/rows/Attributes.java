package io.github.roost.rows;

import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.vector.SearchResult;
import java.util.List;

/**
 * Searches that return the rows of the neighbors they find, in one request: the worker that has the ids reads their rows next, without a second
 * request or queue. Ids of neighbors are keys of the table. A row that cannot be read from a disk fails separately ({@link RowBatch#failure}): the
 * neighbors and all other rows are in the answer. Stateless.
 */
public final class Attributes {
    private Attributes() {}

    /**
     * Extends a search of one slice to return rows, too. While rows are read from a disk, its worker runs other tasks on top of its stack; submitted
     * with {@code Indexing.submitSteps} it parks instead, which holds no stack.
     *
     * @param <Q> the type of queries
     * @param search finds the neighbors
     * @param table the table with their rows; all rows of an answer are of one version, the version that is current when the neighbors are found
     * @param columns names of columns; all columns if none is named
     * @return a thread-safe, reusable search to submit in place of {@code search}; it fails with an {@link IllegalArgumentException} if a name is not
     *     a column, and an {@link IllegalStateException} if no version was published or the table is closed
     */
    public static <Q> SearchFunction<Q, Enriched> after(
            SearchFunction<Q, SearchResult> search, VersionedRows table, String... columns) {
        return new OfOneSlice<>(search, new RowFetch(table, List.of(columns)));
    }

    /**
     * Extends a search of any number of slices to return rows, too. They are read after its last slice; it parks while they are read from a disk.
     *
     * @param <Q> the type of queries
     * @param search finds the neighbors
     * @param table the table with their rows; all rows of an answer are of one version, the version that is current when the neighbors are found
     * @param columns names of columns; all columns if none is named
     * @return a search to submit in place of {@code search}, by any thread and as often as {@code search} may be; it fails as the result of {@link
     *     #after(SearchFunction, VersionedRows, String...)} does
     */
    public static <Q> Search<Q, Enriched> after(
            Search<Q, SearchResult> search, VersionedRows table, String... columns) {
        return after(search, new RowFetch(table, List.of(columns)));
    }

    private static <Q> Search<Q, Enriched> after(Search<Q, SearchResult> search, RowFetch rows) {
        return (query, context) -> after(search.step(query, context), rows, context);
    }

    private static <Q> Step<Q, Enriched> after(Step<Q, SearchResult> step, RowFetch rows, SearchContext context) {
        return switch (step) {
            case Step.Done<Q, SearchResult> done -> {
                SearchResult found = done.result();
                yield rows.step(found.ids(), batch -> new Enriched(found, batch), context);
            }
            case Step.Yield<Q, SearchResult> yield -> new Step.Yield<>(after(yield.next(), rows));
            case Step.Park<Q, SearchResult> park -> new Step.Park<>(park.pending(), after(park.next(), rows));
            case Step.Fork<Q, ?, ?, SearchResult> fork -> afterAll(fork, rows);
        };
    }

    private static <Q, G, P> Step<Q, Enriched> afterAll(Step.Fork<Q, G, P, SearchResult> fork, RowFetch rows) {
        return new Step.Fork<Q, G, P, Enriched>(
                fork.parts(),
                fork.shared(),
                fork.sharedQuery(),
                (query, results, context) -> after(fork.next().joined(query, results, context), rows, context));
    }

    /** Run as a search of several slices it parks for cold rows; run as a search of one slice it lets its worker run other tasks meanwhile. */
    private record OfOneSlice<Q>(SearchFunction<Q, SearchResult> search, RowFetch rows)
            implements SearchFunction<Q, Enriched> {
        @Override
        public Enriched search(Q query, SearchContext context) throws Exception {
            SearchResult found = search.search(query, context);
            return new Enriched(found, rows.now(found.ids(), context));
        }

        @Override
        @SuppressWarnings("FunctionalInterfaceMethodChanged") // as SearchFunction
        public Step<Q, Enriched> step(Q query, SearchContext context) throws Exception {
            return after(search.step(query, context), rows, context);
        }
    }

    /**
     * The result of a search, and a row per id of it. The receiver owns both.
     *
     * @param result nearest first
     * @param rows row i belongs to id i; it is absent if the table has no row for it, for example if the id was just added, and failed
     *     ({@link RowBatch#failure}) if it cannot be read
     */
    public record Enriched(SearchResult result, RowBatch rows) {}
}
