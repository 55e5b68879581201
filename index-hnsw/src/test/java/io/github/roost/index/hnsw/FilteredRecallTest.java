package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.ExactSearch.hits;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows in clusters, so that what a filter allows may lie far from the query; fixed and live. */
@Tag("stress")
class FilteredRecallTest {
    private static final int CLUSTERS = 20;
    private static final int DIMENSION = 12;
    private static final int ROWS = 16_000;
    private static final int K = 10;
    private static final int EF = 40;
    private static final double MAX_LOST = .02;

    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();
    private static final float[][] MEANS = gaussian(CLUSTERS, DIMENSION, new Random(81));
    private static final float[][] VECTORS = clustered(ROWS, new Random(82));
    private static final float[][] QUERIES = clustered(100, new Random(83));
    private static HnswTable fixed;
    private static LiveTable live;

    /** How the rows that are allowed lie. */
    enum Allowed {
        /** Everywhere. */
        SCATTERED,
        /** In some clusters, all of them. */
        CLUSTERS,
        /** In the clusters that queries never are in. */
        FAR
    }

    /** Where filtered searches go. */
    enum Table {
        FIXED,
        LIVE
    }

    /** Row n is of cluster n modulo their number. */
    private static float[][] clustered(int rows, Random random) {
        float[][] vectors = gaussian(rows, DIMENSION, random);
        for (int row = 0; row < rows; row++) {
            for (int i = 0; i < DIMENSION; i++) {
                vectors[row][i] = .3f * vectors[row][i] + MEANS[row % CLUSTERS][i];
            }
        }
        return vectors;
    }

    @BeforeAll
    static void build() throws InterruptedException {
        fixed = HnswTable.builder().m(8).efConstruction(60).build(ORCHESTRATOR, VECTORS);
        // A large part, a small one, rows without a graph, and dead ones in each.
        int first = ROWS / 2;
        live = LiveTable.builder()
                .m(8)
                .efConstruction(60)
                .mergeAfter(1_000)
                .build(ORCHESTRATOR, LongStream.range(0, first).toArray(), Arrays.copyOf(VECTORS, first));
        for (int row = 0; row < first; row += 9) {
            live.remove(row);
            live.put(ROWS + row, VECTORS[row]);
        }
        for (int row = first; row < ROWS; row++) {
            live.put(row, VECTORS[row]);
            if (row == ROWS - 500) {
                live.merge();
            }
        }
        for (int row = 0; row < first; row += 9) {
            live.remove(ROWS + row);
            live.put(row, VECTORS[row]);
        }
    }

    @AfterAll
    static void close() {
        fixed.close();
        live.close();
        ORCHESTRATOR.close();
    }

    @ParameterizedTest
    @CsvSource({
        "FIXED, SCATTERED, .5",
        "FIXED, SCATTERED, .1",
        "FIXED, SCATTERED, .01",
        "FIXED, SCATTERED, .001",
        "FIXED, CLUSTERS, .5",
        "FIXED, CLUSTERS, .1",
        "FIXED, CLUSTERS, .01",
        "FIXED, CLUSTERS, .001",
        "FIXED, FAR, .5",
        "FIXED, FAR, .1",
        "FIXED, FAR, .01",
        "LIVE, SCATTERED, .5",
        "LIVE, SCATTERED, .1",
        "LIVE, SCATTERED, .01",
        "LIVE, SCATTERED, .001",
        "LIVE, CLUSTERS, .5",
        "LIVE, CLUSTERS, .1",
        "LIVE, CLUSTERS, .01",
        "LIVE, CLUSTERS, .001",
        "LIVE, FAR, .5",
        "LIVE, FAR, .1",
        "LIVE, FAR, .01"
    })
    void aFilteredSearchFindsAsMuchAsAnUnfilteredOne(Table table, Allowed allowed, double share) {
        LongPredicate filter = filter(allowed, share);
        long rows = LongStream.range(0, ROWS).filter(filter).count();
        assertThat(rows).isBetween((long) (.7 * share * ROWS), (long) (1.5 * share * ROWS));
        assertThat(recall(table, allowed, filter))
                .isGreaterThanOrEqualTo(recall(table, allowed, id -> true) - MAX_LOST);
    }

    private static LongPredicate filter(Allowed allowed, double share) {
        int clusters = Math.max(1, (int) Math.round(share * CLUSTERS));
        double ofThose = share * CLUSTERS / clusters;
        LongPredicate chance = id -> new Random(id * 7_919).nextDouble() < ofThose;
        return switch (allowed) {
            case SCATTERED -> id -> new Random(id * 7_919).nextDouble() < share;
            case CLUSTERS, FAR -> id -> id % CLUSTERS < clusters && chance.test(id);
        };
    }

    private static double recall(Table table, Allowed allowed, LongPredicate filter) {
        IdFilter compiled = IdFilter.of(filter).cached();
        int hits = 0;
        int wanted = 0;
        for (int query = 0; query < QUERIES.length; query++) {
            if (allowed == Allowed.FAR && query % CLUSTERS < CLUSTERS / 2) {
                continue;
            }
            SearchResult truth = exact(VECTORS, QUERIES[query], K, Metric.SQUARED_L2, filter);
            SearchResult found = search(table, QUERIES[query], compiled).join();
            assertThat(Arrays.stream(found.ids())).allMatch(filter::test);
            assertThat(found.size()).isEqualTo(truth.size());
            hits += hits(truth, found);
            wanted += truth.size();
        }
        return hits / (double) wanted;
    }

    private static CompletableFuture<SearchResult> search(Table table, float[] query, IdFilter filter) {
        return table == Table.FIXED
                ? fixed.search(SearchRequest.of(query, K).effort(EF).filter(filter))
                : live.search(SearchRequest.of(query, K).effort(EF).filter(filter));
    }
}
