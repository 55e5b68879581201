package io.github.roost.index.hnsw;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Part;
import io.github.roost.vector.Neighbors;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Searches several tables with one query, each on its home domain, and merges the results. Immutable; thread-safe. */
public final class MultiTableSearch {
    /** Adding 0.0 turns -0.0 into 0.0: {@code Double.compare} would order the two zeros, which are the same distance. */
    private static final Comparator<TableHit> NEAREST_FIRST = Comparator.comparingDouble(
                    (TableHit hit) -> hit.distance() + 0.0)
            .thenComparingInt(TableHit::table)
            .thenComparingLong(TableHit::id);

    private final Orchestrator orchestrator;
    private final List<HnswTable> tables;

    /**
     * Creates a search over several tables.
     *
     * @param orchestrator the orchestrator that the tables were built with
     * @param searched the tables, at least one, all of one dimension and metric
     * @throws IllegalArgumentException if there are no tables, or their dimensions or metrics differ
     */
    public MultiTableSearch(Orchestrator orchestrator, List<HnswTable> searched) {
        List<HnswTable> tables = List.copyOf(searched);
        if (tables.isEmpty()) {
            throw new IllegalArgumentException("there must be at least one table to search, got none");
        }
        for (HnswTable table : tables) {
            if (table.dimension() != tables.getFirst().dimension()
                    || table.metric() != tables.getFirst().metric()) {
                throw new IllegalArgumentException("tables must have one dimension and metric, got "
                        + describe(tables.getFirst()) + " and " + describe(table));
            }
        }
        this.orchestrator = orchestrator;
        this.tables = tables;
    }

    private static String describe(HnswTable table) {
        return table.name() + " (" + table.dimension() + ", " + table.metric() + ")";
    }

    /**
     * Finds the k nearest rows over all tables, nearest first; ties are ordered by table, then id.
     *
     * @param request the search of each table; without an effort each table uses its default. The deadline and priority
     *     apply to the search of each table. A target recall is refused: tables would need different efforts
     * @return completes with at most k hits; fails with a {@link io.github.roost.core.DeadlineExceededException} if the
     *     deadline passes before every table has been searched
     * @throws IllegalArgumentException if the request has a target recall, or a table refuses it
     */
    public CompletableFuture<List<TableHit>> search(SearchRequest request) {
        if (!Double.isNaN(request.targetRecall())) {
            throw new IllegalArgumentException(
                    "a search of several tables must give an effort, got a target recall of " + request.targetRecall());
        }
        List<Part<SearchRequest, SearchResult>> parts =
                tables.stream().map(table -> table.part(request)).toList();
        return orchestrator.fanOut(
                parts,
                results -> merge(results.stream().map(SearchResult::neighbors).toList(), request.k()),
                request.options());
    }

    static List<TableHit> merge(List<Neighbors> results, int k) {
        List<TableHit> hits = new ArrayList<>();
        for (int table = 0; table < results.size(); table++) {
            Neighbors found = results.get(table);
            for (int i = 0; i < found.size(); i++) {
                hits.add(new TableHit(table, found.ids()[i], found.distances()[i]));
            }
        }
        hits.sort(NEAREST_FIRST);
        return List.copyOf(hits.subList(0, Math.min(k, hits.size())));
    }
}
