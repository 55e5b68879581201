package io.github.roost.index.remote;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.index.hnsw.HnswGraph;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds, while partitions are built, which of the partitions that a sample query visits have its true neighbours. Each row is compared
 * once with each query, a fraction of what it takes to put it into its graph. Used by one build; {@link #add} of one partition at a time.
 */
final class NeighborRanks {
    private static final int K = 10;
    /** Queries that are compared in one go, so that searches that wait do not wait long. */
    private static final int STEP = 16;

    private static final SearchContext OUTSIDE = SearchContext.outside((nodes, bytes) -> {});

    private final List<float[]> queries;
    /** The id of the row that a query is, which is no neighbour of itself; null where queries are none. */
    private final long @Nullable [] own;
    /** The nearest rows so far, by query. */
    private final List<List<Neighbor>> nearest = new ArrayList<>();

    private record Neighbor(long id, float distance, int partition) {}

    NeighborRanks(float[][] queries, long @Nullable [] own) {
        this.queries = List.of(queries);
        this.own = own;
        this.queries.forEach(query -> nearest.add(new ArrayList<>()));
    }

    /** Compares the rows of a partition with the queries. */
    void add(BuildWork work, int partition, HnswGraph graph) {
        work.run(queries.size(), STEP, (from, to) -> {
            List<SearchResult> found =
                    graph.scanTogether(queries.subList(from, to), K + 1, IdFilter.all(), IdFilter.all(), OUTSIDE);
            for (int query = from; query < to; query++) {
                merge(query, partition, found.get(query - from).neighbors());
            }
        });
    }

    private void merge(int query, int partition, Neighbors found) {
        List<Neighbor> all = nearest.get(query);
        for (int i = 0; i < found.size(); i++) {
            if (own == null || found.ids()[i] != own[query]) {
                all.add(new Neighbor(found.ids()[i], found.distances()[i], partition));
            }
        }
        all.sort(Comparator.comparingDouble(Neighbor::distance));
        long last = 0;
        int distinct = 0;
        int kept = 0;
        // A row of a boundary is in two partitions, at one distance, and is one neighbour.
        while (kept < all.size() && (distinct < K || all.get(kept).id() == last)) {
            distinct += kept == 0 || all.get(kept).id() != last ? 1 : 0;
            last = all.get(kept++).id();
        }
        all.subList(kept, all.size()).clear();
    }

    /** For each query that has any, and each of its true neighbours, the rank of the first partition that has it among those it visits. */
    int[][] of(HnswGraph centroids, Metric metric) {
        List<int[]> ranks = new ArrayList<>();
        for (int query = 0; query < queries.size(); query++) {
            int[] rankOf = new int[centroids.rows()];
            Arrays.fill(rankOf, centroids.rows());
            long[] visits = Partitioner.nearest(
                            centroids, Partitioner.inSpace(metric, queries.get(query)), centroids.rows())
                    .ids();
            for (int rank = 0; rank < visits.length; rank++) {
                rankOf[(int) visits[rank]] = rank;
            }
            Map<Long, Integer> best = new HashMap<>();
            for (Neighbor neighbor : nearest.get(query)) {
                best.merge(neighbor.id(), rankOf[neighbor.partition()], Math::min);
            }
            if (!best.isEmpty()) {
                ranks.add(best.values().stream().mapToInt(Integer::intValue).toArray());
            }
        }
        return ranks.toArray(int[][]::new);
    }

    /** Rows as queries, and their ids. */
    static NeighborRanks ofRows(float[][] rows, LongStream ids) {
        return new NeighborRanks(rows, ids.toArray());
    }
}
