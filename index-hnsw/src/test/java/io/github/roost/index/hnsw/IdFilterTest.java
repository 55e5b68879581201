package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.ExactSearch.hits;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.search.NodeSet;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    @CsvSource({".9, false", ".5, false", ".1, false", ".01, false", ".5, true", ".1, true", ".01, true", ".001, true"})
    void aFilteredSearchFindsAsMuchAsAnUnfilteredOne(double share, boolean cached) {
        // By a hash of the id, so that what is allowed lies everywhere.
        LongPredicate allowed = id -> new Random(id * 7919).nextDouble() < share;
        assertThat(recall(allowed, cached)).isGreaterThanOrEqualTo(recall(id -> true, true) - .02);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFilterThatAllowsOneRegionFindsAsMuch(boolean cached) {
        LongPredicate allowed = id -> VECTORS[(int) id][0] > 1.3;
        assertThat(recall(allowed, cached)).isGreaterThanOrEqualTo(recall(id -> true, true) - .02);
    }

    private static double recall(LongPredicate allowed, boolean cached) {
        IdFilter filter = cached ? IdFilter.of(allowed).cached() : IdFilter.of(allowed);
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

    private static List<Long> ids(VectorTable searched, SearchRequest request) {
        return LongStream.of(searched.search(request).join().ids()).boxed().toList();
    }

    @Test
    void aPredicateIsAskedAboutTheRowsThatASearchFinds() {
        AtomicInteger requested = new AtomicInteger();
        IdFilter filter = IdFilter.of(id -> requested.incrementAndGet() > 0 && id % 2 == 0);
        table.search(SearchRequest.of(QUERIES[0], K).effort(EF).filter(filter)).join();
        assertThat(requested).hasValueBetween(2 * EF, 10 * EF);
    }

    @Test
    void aCachedFilterKeepsItsAnswers() {
        AtomicBoolean even = new AtomicBoolean(true);
        IdFilter changing = IdFilter.of(id -> id % 2 == 0 == even.get());
        IdFilter cached = changing.cached();
        SearchRequest request = SearchRequest.of(QUERIES[0], K).effort(EF);
        SearchResult before = table.search(request.filter(cached)).join();
        even.set(false);
        assertThat(table.search(request.filter(cached)).join()).isEqualTo(before);
        assertThat(ids(table, request.filter(changing))).allMatch(id -> id % 2 == 1);
        assertThat(ids(table, request.filter(changing.cached()))).allMatch(id -> id % 2 == 1);
    }

    @Test
    void whatIsFixedByItsKindIsCachedWithoutBeingAskedFor() {
        IdFilter bits = IdFilter.of(new BitSet());
        assertThat(bits.isCached()).isTrue();
        assertThat(bits.cached()).isSameAs(bits);
        assertThat(IdFilter.all().isCached()).isTrue();
        assertThat(IdFilter.of(id -> true).isCached()).isFalse();
    }

    @Test
    void eachTableAsksASharedFilterAboutItsOwnRows() {
        float[][] others = gaussian(1_000, 12, new Random(44));
        long[] ids = LongStream.range(50_000, 51_000).toArray();
        try (HnswTable fixed = HnswTable.builder().build(ORCHESTRATOR, ids, others);
                LiveTable live = LiveTable.builder().build(ORCHESTRATOR, 12)) {
            live.put(60_000, others[0]);
            live.put(60_001, others[1]);
            for (IdFilter filter : List.of(
                    IdFilter.of(id -> id % 2 == 0),
                    IdFilter.of(id -> id % 2 == 0).cached())) {
                for (int search = 0; search < 2; search++) {
                    SearchRequest request = SearchRequest.of(others[1], K).filter(filter);
                    assertThat(ids(table, request)).hasSize(K).allMatch(id -> id < ROWS && id % 2 == 0);
                    assertThat(ids(fixed, request)).hasSize(K).allMatch(id -> id >= 50_000 && id % 2 == 0);
                    assertThat(ids(live, request)).containsExactly(60_000L);
                }
            }
        }
    }

    /** At each of its asks once: in the sample, of the nodes that were found, and of all rows. */
    @ParameterizedTest
    @ValueSource(ints = {1, 50, 150, 10_000})
    void whatAFilterThrowsFailsItsSearchAndChangesNothing(int ask) {
        SearchRequest request = SearchRequest.of(QUERIES[0], K).effort(EF);
        IdFilter odd = IdFilter.of(id -> id % 2 == 1);
        SearchResult before = table.search(request.filter(odd)).join();
        AtomicInteger requested = new AtomicInteger();
        IdFilter failing = IdFilter.of(id -> {
            if (requested.incrementAndGet() == ask) {
                throw new UncheckedIOException(new IOException("the stock is unknown"));
            }
            return id % 2 == 1 && ask < 1_000;
        });
        assertThatThrownBy(() -> table.search(request.filter(failing)).join())
                .hasCauseInstanceOf(UncheckedIOException.class)
                .hasRootCauseMessage("the stock is unknown");
        assertThat(table.search(request.filter(odd)).join()).isEqualTo(before);
    }

    @Test
    void aCachedPredicateIsAskedOnceARow() {
        AtomicInteger requested = new AtomicInteger();
        IdFilter filter = IdFilter.of(id -> requested.incrementAndGet() > 0).cached();
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
