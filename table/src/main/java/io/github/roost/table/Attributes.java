package io.github.roost.table;

import io.github.roost.core.Neighbors;
import io.github.roost.core.task.Search;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.Step;
import java.util.List;

/**
 * Searches that answer with the rows of what they find, as one request: the worker that has the ids reads their rows before it does anything
 * else. There is no second request, and no second queue. Ids of the neighbours are keys of the table. A row that cannot be read from a disk fails alone
 * ({@link RowBatch#failure}): the neighbours and all other rows are in the answer. Stateless.
 */
public final class Attributes {
    private Attributes() {}

    /**
     * A search of one slice that answers with rows, too. Where rows are to be read from a disk it waits for them, and its worker does meanwhile what else there
     * is; submitted with {@code Indexing.submitSteps} it parks, which keeps no stack.
     *
     * @param <Q> the query
     * @param search finds neighbours
     * @param table has their rows; all rows of an answer are of one version, the one that is current when the neighbours are found
     * @param columns names of columns; all of them, if none is named
     * @return to be submitted in place of {@code search}, by any thread and as often as wanted; it fails with an {@link
     *     IllegalArgumentException} if there is no column of a name, and an {@link IllegalStateException} if no version was published or
     *     the table is closed
     */
    public static <Q> SearchFunction<Q, Enriched> after(
            SearchFunction<Q, Neighbors> search, Table table, String... columns) {
        return new OfOneSlice<>(search, new RowFetch(table, List.of(columns)));
    }

    /**
     * A search of any number of slices that answers with rows, too; they are read after its last one, and it parks where they are to be read from a disk.
     *
     * @param <Q> the query
     * @param search finds neighbours
     * @param table has their rows; all rows of an answer are of one version, the one that is current when the neighbours are found
     * @param columns names of columns; all of them, if none is named
     * @return to be submitted in place of {@code search}, by any thread and as often as {@code search} may be; it fails as that of {@link
     *     #after(SearchFunction, Table, String...)}
     */
    public static <Q> Search<Q, Enriched> after(Search<Q, Neighbors> search, Table table, String... columns) {
        return after(search, new RowFetch(table, List.of(columns)));
    }

    private static <Q> Search<Q, Enriched> after(Search<Q, Neighbors> search, RowFetch rows) {
        return (query, context) -> after(search.step(query, context), rows, context);
    }

    private static <Q> Step<Q, Enriched> after(Step<Q, Neighbors> step, RowFetch rows, SearchContext context) {
        return switch (step) {
            case Step.Done<Q, Neighbors> done -> {
                Neighbors found = done.result();
                yield rows.step(found.ids(), batch -> new Enriched(found, batch), context);
            }
            case Step.Yield<Q, Neighbors> yield -> new Step.Yield<>(after(yield.next(), rows));
            case Step.Park<Q, Neighbors> park -> new Step.Park<>(park.pending(), after(park.next(), rows));
            case Step.Fork<Q, ?, ?, Neighbors> fork -> afterAll(fork, rows);
        };
    }

    private static <Q, G, P> Step<Q, Enriched> afterAll(Step.Fork<Q, G, P, Neighbors> fork, RowFetch rows) {
        return new Step.Fork<Q, G, P, Enriched>(
                fork.parts(),
                fork.shared(),
                fork.asked(),
                (query, results, context) -> after(fork.next().joined(query, results, context), rows, context));
    }

    /** Parks for cold rows where it is run as a search of several slices, and has its worker do something else where it is not. */
    private record OfOneSlice<Q>(SearchFunction<Q, Neighbors> search, RowFetch rows)
            implements SearchFunction<Q, Enriched> {
        @Override
        public Enriched search(Q query, SearchContext context) throws Exception {
            Neighbors found = search.search(query, context);
            return new Enriched(found, rows.now(found.ids(), context));
        }

        @Override
        @SuppressWarnings("FunctionalInterfaceMethodChanged") // as SearchFunction
        public Step<Q, Enriched> step(Q query, SearchContext context) throws Exception {
            return after(search.step(query, context), rows, context);
        }
    }
}
