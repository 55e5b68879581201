package io.github.roost.index.hnsw;

import io.github.roost.core.SearchContext;
import io.github.roost.index.hnsw.graph.AllowedRows;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.graph.GraphVisit;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.spi.BuildWork;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.LongAdder;

/**
 * A sample of a table's rows as queries, with their true neighbors, to compare layouts. Searches run as batch work on the
 * workers of an orchestrator. Used by one thread.
 */
final class LayoutSample {
    /** Neighbors per query, besides the row itself. */
    static final int K = 10;

    private static final int QUERIES = 64;
    private static final int MAX_EF = 1_024;
    private static final long SEED = 26;

    private final BuildWork work;
    private final List<float[]> queries;
    /** Distance of the last true neighbor of each query: a found row within it counts as a hit. */
    private final float[] reach;

    private final int truths;

    LayoutSample(BuildWork work, Graph graph) {
        this.work = work;
        this.queries = new Random(SEED)
                .ints(0, graph.rows())
                .distinct()
                .limit(Math.min(QUERIES, graph.rows()))
                .mapToObj(graph::vector)
                .toList();
        List<SearchResult> exact = work.once(
                () -> graph.searcher().scanTogether(queries, K + 1, AllowedRows.ALL, AllowedRows.ALL, yielding(work)));
        this.reach = new float[queries.size()];
        int all = 0;
        for (int query = 0; query < reach.length; query++) {
            SearchResult truth = exact.get(query);
            reach[query] = truth.distances()[truth.size() - 1];
            all += truth.size();
        }
        this.truths = all;
    }

    /** The cost of the sample searches in one layout, at the smallest tried ef that reaches the target recall. */
    LayoutRule.Cost cost(Graph graph, double target) {
        LayoutRule.Cost cost = costAt(graph, K + 1);
        while (cost.recall() < target && cost.ef() < MAX_EF) {
            cost = costAt(graph, Math.min(MAX_EF, cost.ef() + Math.max(1, cost.ef() / 4)));
        }
        return cost;
    }

    private LayoutRule.Cost costAt(Graph graph, int ef) {
        LongAdder hits = new LongAdder();
        LongAdder compared = new LongAdder();
        work.forEach(queries.size(), 1, query -> {
            GraphVisit visit = yielding(work);
            SearchResult found =
                    graph.searcher().search(queries.get(query), K + 1, ef, AllowedRows.ALL, IdFilter.all(), visit);
            for (float distance : found.distances()) {
                hits.add(distance <= reach[query] ? 1 : 0);
            }
            compared.add(visit.cost().visited());
        });
        // Each query finds itself at every ef, so these hits are not counted.
        int self = queries.size();
        double recall = truths <= self ? 1 : (hits.sum() - self) / (double) (truths - self);
        int again = graph.searcher().comparedAgain(K + 1, ef);
        GraphImage.Shape shape = graph.image().shape();
        long vectorBytes = (long) shape.dimension() * Float.BYTES;
        return new LayoutRule.Cost(
                ef,
                recall,
                compared.sum() / (double) queries.size() - again,
                shape.coded() ? shape.dimension() : vectorBytes,
                again,
                vectorBytes);
    }

    /** Sample searches yield to other searches where they check for expiry. No table counts their traffic yet. */
    private static GraphVisit yielding(BuildWork work) {
        return new GraphVisit(SearchContext.outside((nodes, bytes) -> {}, () -> {
            work.yieldToSearches();
            return false;
        }));
    }
}
