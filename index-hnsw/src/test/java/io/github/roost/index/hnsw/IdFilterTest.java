package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.ExactSearch.hits;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.search.NodeSet;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdFilterTest {
    private static final int ROWS = 20_000;
    private static final int K = 10;
    private static final int EF = 60;

    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();
    private static final float[][] VECTORS = gaussian(ROWS, 12, new Random(41));
    private static final float[][] QUERIES = gaussian(200, 12, new Random(42));
    private static HnswTable table;

    @BeforeAll
    static void build() {
        table = HnswTable.builder().efConstruction(80).build(ORCHESTRATOR, VECTORS);
    }

    @AfterAll
    static void close() {
        table.close();
        ORCHESTRATOR.close();
    }

    @ParameterizedTest
    @ValueSource(doubles = {.5, .1, .01, .001})
    void aFilteredSearchFindsAsMuchAsAnUnfilteredOne(double share) {
        // By a hash of the id, so that what is allowed lies everywhere.
        LongPredicate allowed = id -> new Random(id * 7919).nextDouble() < share;
        assertThat(recall(allowed)).isGreaterThanOrEqualTo(recall(id -> true) - .02);
    }

    @Test
    void aFilterThatAllowsOneRegionFindsAsMuch() {
        LongPredicate allowed = id -> VECTORS[(int) id][0] > 1.3;
        assertThat(recall(allowed)).isGreaterThanOrEqualTo(recall(id -> true) - .02);
    }

    private static double recall(LongPredicate allowed) {
        IdFilter filter = IdFilter.of(allowed);
        int hits = 0;
        int wanted = 0;
        for (float[] query : QUERIES) {
            SearchResult truth = exact(VECTORS, query, K, Metric.SQUARED_L2, allowed);
            SearchResult found = table.search(
                            SearchRequest.of(query, K).effort(EF).filter(filter))
                    .join();
            assertThat(Arrays.stream(found.ids())).allMatch(allowed::test);
            assertThat(found.size()).isEqualTo(truth.size());
            hits += hits(truth, found);
            wanted += truth.size();
        }
        return hits / (double) wanted;
    }

    @Test
    void aFilterThatAllowsNothingFindsNothing() {
        assertThat(table.search(SearchRequest.of(QUERIES[0], K).effort(EF).filter(IdFilter.of(id -> false)))
                        .join()
                        .size())
                .isZero();
    }

    @Test
    void setBitsAreAllowedIds() {
        BitSet ids = new BitSet();
        ids.set(17);
        ids.set(4_711);
        IdFilter filter = IdFilter.of(ids);
        ids.clear();
        assertThat(table.search(SearchRequest.of(QUERIES[0], K).effort(EF).filter(filter))
                        .join()
                        .ids())
                .containsExactlyInAnyOrder(17, 4_711);
    }

    @Test
    void aPredicateIsAskedOnceARow() {
        AtomicInteger requested = new AtomicInteger();
        IdFilter filter = IdFilter.of(id -> requested.incrementAndGet() > 0);
        table.search(SearchRequest.of(QUERIES[0], K).effort(EF).filter(filter)).join();
        table.search(SearchRequest.of(QUERIES[1], K).effort(EF).filter(filter)).join();
        assertThat(requested).hasValue(ROWS);
    }

    @Test
    void aRangeHasANodeWhereverItLies() {
        NodeSet some = NodeSet.of(300, node -> node == 63 || node == 64 || node == 200);
        for (int from = 0; from < 300; from++) {
            for (int to = from + 1; to <= 300; to++) {
                assertThat(some.containsAny(from, to))
                        .describedAs("%d to %d", from, to)
                        .isEqualTo(IntStream.range(from, to).anyMatch(some::contains));
            }
        }
    }

    @Test
    void ofEqualRowsOnlyTheAllowedAreFound() {
        float[][] rows = gaussian(50, 3, new Random(43));
        for (int row = 0; row < rows.length; row++) {
            rows[row] = rows[row % 10];
        }
        try (HnswTable equals = HnswTable.builder().build(ORCHESTRATOR, rows)) {
            SearchResult found = equals.search(
                            SearchRequest.of(rows[3], 2).effort(10).filter(IdFilter.of(id -> id >= 20)))
                    .join();
            assertThat(found).isEqualTo(new SearchResult(new long[] {23, 33}, new float[2]));
        }
    }
}
