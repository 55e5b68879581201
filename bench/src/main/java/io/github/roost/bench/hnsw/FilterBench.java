package io.github.roost.bench.hnsw;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.Topology;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Question: do filtered searches reach the recall of unfiltered ones at the same ef, and what do they cost? Measured on a frozen table, and on a
 * live one with rows that are not yet frozen and tombstones. The allowed rows are random, or are in some clusters of the rows; queries are spread
 * evenly over all clusters.
 */
public final class FilterBench implements AutoCloseable {
    private static final int K = 10;
    private static final int CENTRES = 100;
    private static final int FREEZE_AFTER = 2_048;
    /** The live table gets one deleted row per this many rows. */
    private static final int ROWS_PER_DEAD = 10;

    private final float[][] rows;
    private final float[][] queries;
    private final int ef;
    private final Orchestrator orchestrator;
    private final HnswTable frozen;
    private final LiveTable live;

    /** The distribution of the allowed rows. */
    public enum Allowed {
        /** Each row is allowed with the same probability. */
        EVERYWHERE,
        /** Rows of some clusters only. */
        CLUSTERS
    }

    /**
     * The result of one kind of filter on one table.
     *
     * @param recall share of the true neighbours among the allowed rows
     * @param visited mean number of nodes whose distance a search computes
     */
    public record Outcome(double recall, double visited) {}

    /**
     * Builds both tables.
     *
     * @param count rows, of a {@link Mixture}
     * @param ef of the searches
     */
    public FilterBench(Topology topology, int count, int dimension, int queries, int ef, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Mixture mixture = Mixture.of(CENTRES, dimension, random);
        this.rows = new float[count][];
        for (int row = 0; row < count; row++) {
            rows[row] = mixture.drawAround(row % CENTRES, random);
        }
        this.queries = mixture.draw(queries, random);
        this.ef = ef;
        this.orchestrator = Orchestrator.builder().topology(topology).build();
        this.frozen = HnswTable.builder().build(orchestrator, rows);
        this.live = liveTable();
    }

    /** Builds a live table of the same rows, half of them added one by one, with deleted rows spread over all clusters. */
    private LiveTable liveTable() {
        int half = rows.length / 2;
        LiveTable table = LiveTable.builder()
                .freezeAfter(FREEZE_AFTER)
                .build(orchestrator, LongStream.range(0, half).toArray(), Arrays.copyOf(rows, half));
        for (int row = half; row < rows.length; row++) {
            table.put(row, rows[row]);
            if (row == rows.length - FREEZE_AFTER / 2) {
                table.freeze();
            }
        }
        for (int row = 0; row < rows.length; row += ROWS_PER_DEAD) {
            table.put(row + (long) rows.length, rows[row]);
            table.remove(row + (long) rows.length);
        }
        return table;
    }

    /** Parts of the live table that have a graph. */
    public int frozenParts() {
        return live.frozenParts();
    }

    /**
     * Measures one kind of filter.
     *
     * @param share of the rows that are allowed, over 0, at most 1; 1 for no filter
     * @return the results of the frozen table, then of the live one
     */
    public Outcome[] measure(Allowed allowed, double share) throws Exception {
        LongPredicate accepts = accepts(allowed, share);
        int[] ordinals = IntStream.range(0, rows.length).filter(accepts::test).toArray();
        float[][] these = Arrays.stream(ordinals).mapToObj(row -> rows[row]).toArray(float[][]::new);
        SearchResult[] truth = new ExactSearch(these).searchAll(queries, Math.min(K, these.length));
        IdFilter filter = IdFilter.of(accepts);
        return new Outcome[] {
            measure(share < 1 ? frozen.searchFunction(K, ef, filter) : frozen.searchFunction(K, ef), truth),
            measure(share < 1 ? live.searchFunction(K, ef, filter) : live.searchFunction(K, ef), truth)
        };
    }

    private static LongPredicate accepts(Allowed allowed, double share) {
        if (allowed == Allowed.EVERYWHERE) {
            return id -> chance(id) < share;
        }
        int clusters = (int) Math.max(1, Math.round(share * CENTRES));
        return id -> id % CENTRES < clusters && chance(id) < share * CENTRES / clusters;
    }

    private static double chance(long id) {
        return new SplittableRandom(id).nextDouble();
    }

    private Outcome measure(SearchFunction<float[], SearchResult> search, SearchResult[] truth) throws Exception {
        DistanceRecall recall = new DistanceRecall();
        long[] visited = new long[1];
        SearchContext context = SearchContext.outside((nodes, bytes) -> visited[0] += nodes);
        for (int query = 0; query < queries.length; query++) {
            recall.add(truth[query], search.search(queries[query], context));
        }
        return new Outcome(recall.share(), (double) visited[0] / queries.length);
    }

    @Override
    public void close() {
        orchestrator.close();
    }
}
