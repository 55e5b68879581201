package io.github.roost.index.remote.build;

import io.github.roost.core.SearchContext;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.format.RowDistance;
import io.github.roost.index.remote.pool.Centroids;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.spi.BuildWork;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds during a build which partitions have the true neighbors of sample queries. Each row is compared once with each query, a fraction of the
 * cost of inserting it into its graph. Used by one build; {@link #add} by one thread at a time.
 */
public final class NeighborRanks {
    private static final int K = 10;
    /** Queries per step; small, so that waiting searches are not delayed. */
    private static final int STEP = 16;

    private static final SearchContext OUTSIDE = SearchContext.outside((nodes, bytes) -> {});

    private final List<float[]> queries;
    /** If the queries are rows, their ids, since a row is not its own neighbor; otherwise null. */
    private final long @Nullable [] own;
    /** The nearest rows so far, per query. */
    private final List<List<Neighbor>> nearest = new ArrayList<>();

    private record Neighbor(long id, float distance, int partition) {}

    public NeighborRanks(float[][] queries, long @Nullable [] own) {
        this.queries = List.of(queries);
        this.own = own;
        this.queries.forEach(query -> nearest.add(new ArrayList<>()));
    }

    /** Compares the rows of a partition with the queries. */
    public void add(BuildWork work, int partition, Graph graph) {
        work.run(queries.size(), STEP, (from, to) -> {
            List<SearchResult> found =
                    graph.scanTogether(queries.subList(from, to), K + 1, IdFilter.all(), IdFilter.all(), OUTSIDE);
            for (int query = from; query < to; query++) {
                merge(query, partition, found.get(query - from));
            }
        });
    }

    private void merge(int query, int partition, SearchResult found) {
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
        // A boundary row is in two partitions at the same distance; it counts as one neighbor.
        while (kept < all.size() && (distinct < K || all.get(kept).id() == last)) {
            distinct += kept == 0 || all.get(kept).id() != last ? 1 : 0;
            last = all.get(kept++).id();
        }
        all.subList(kept, all.size()).clear();
    }

    /** For each query with neighbors, per true neighbor: the smallest rank, in the query's order of visits, of a partition that has it. */
    public int[][] of(Graph centroids, Metric metric) {
        List<int[]> ranks = new ArrayList<>();
        for (int query = 0; query < queries.size(); query++) {
            int[] rankOf = new int[centroids.rows()];
            Arrays.fill(rankOf, centroids.rows());
            long[] visits = Centroids.nearest(
                            centroids, RowDistance.inSpace(metric, queries.get(query)), centroids.rows())
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

    /** Uses rows as queries, with their ids. */
    public static NeighborRanks ofRows(float[][] rows, LongStream ids) {
        return new NeighborRanks(rows, ids.toArray());
    }
}
