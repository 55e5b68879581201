package io.github.roost.table;

import io.github.roost.core.Neighbors;
import io.github.roost.core.task.Search;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.Step;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Searches that answer with the rows of what they find, as one request: the worker that has the ids reads their rows before it does anything
 * else. There is no second request, and no second queue. Ids of the neighbours are keys of the table. Stateless.
 */
public final class Attributes {
    private Attributes() {}

    /**
     * A search of one slice that answers with rows, too.
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
        Rows rows = new Rows(table, List.of(columns));
        return (query, context) -> rows.of(search.search(query, context));
    }

    /**
     * A search of any number of slices that answers with rows, too; they are read in its last one.
     *
     * @param <Q> the query
     * @param search finds neighbours
     * @param table has their rows; all rows of an answer are of one version, the one that is current when the neighbours are found
     * @param columns names of columns; all of them, if none is named
     * @return to be submitted in place of {@code search}, by any thread and as often as {@code search} may be; it fails as that of {@link
     *     #after(SearchFunction, Table, String...)}
     */
    public static <Q> Search<Q, Enriched> after(Search<Q, Neighbors> search, Table table, String... columns) {
        return after(search, new Rows(table, List.of(columns)));
    }

    private static <Q> Search<Q, Enriched> after(Search<Q, Neighbors> search, Rows rows) {
        return (query, context) -> after(search.step(query, context), rows);
    }

    private static <Q> Step<Q, Enriched> after(Step<Q, Neighbors> step, Rows rows) {
        return switch (step) {
            case Step.Done<Q, Neighbors> done -> Step.done(rows.of(done.result()));
            case Step.Yield<Q, Neighbors> yield -> new Step.Yield<>(after(yield.next(), rows));
            case Step.Park<Q, Neighbors> park -> new Step.Park<>(park.pending(), after(park.next(), rows));
            case Step.Fork<Q, ?, ?, Neighbors> fork -> afterAll(fork, rows);
        };
    }

    private static <Q, G, P> Step<Q, Enriched> afterAll(Step.Fork<Q, G, P, Neighbors> fork, Rows rows) {
        return new Step.Fork<Q, G, P, Enriched>(
                fork.parts(),
                fork.shared(),
                fork.asked(),
                (query, results, context) -> after(fork.next().joined(query, results, context), rows));
    }

    /** Reads rows, with readers that are used again: as many as have ever been in use at once. */
    private static final class Rows {
        private final Table table;
        private final List<String> columns;
        private final Queue<Table.Reader> idle = new ConcurrentLinkedQueue<>();

        Rows(Table table, List<String> columns) {
            this.table = table;
            this.columns = columns;
        }

        Enriched of(Neighbors neighbors) {
            RowBatch rows = RowBatch.onHeap();
            Table.Reader reader = idle.poll();
            if (reader == null) {
                reader = table.reader();
            }
            try {
                reader.getAll(0, neighbors.ids(), rows, columns);
            } finally {
                idle.add(reader);
            }
            return new Enriched(neighbors, rows);
        }
    }
}
