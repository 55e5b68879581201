package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Rows without clusters in many dimensions: an expanded node has hardly any neighbor that has been visited. */
class FilteredVisitsTest {
    private static final int ROWS = 8_000;
    private static final int DIMENSION = 128;
    private static final int QUERIES = 30;

    @Test
    void aFilterThatAllowsRandomRowsIsNoReasonToSearchAgain() {
        try (Orchestrator orchestrator =
                        Orchestrator.builder().topology(Fixtures.twoDomains()).build();
                HnswTable table = HnswTable.builder()
                        .efConstruction(60)
                        .build(orchestrator, gaussian(ROWS, DIMENSION, new Random(91)))) {
            IdFilter most =
                    IdFilter.of(id -> new Random(id * 7_919).nextInt(100) < 65).cached();
            assertThat(visited(table, most)).isLessThan(visited(table, IdFilter.all()) * 17 / 10);
        }
    }

    @Test
    void theCodesOfTheAllowedRowsAreComparedIfAGraphSearchWouldCompareMore() {
        try (Orchestrator orchestrator =
                        Orchestrator.builder().topology(Fixtures.twoDomains()).build();
                HnswTable table = HnswTable.builder()
                        .efConstruction(60)
                        .layout(GraphLayout.INT8)
                        .build(orchestrator, gaussian(ROWS, DIMENSION, new Random(91)))) {
            Set<Long> allowed = new Random(93)
                    .longs(0, ROWS)
                    .distinct()
                    .limit(ROWS / 5)
                    .boxed()
                    .collect(Collectors.toSet());
            IdFilter some = IdFilter.of(allowed::contains).cached();
            long found = 0;
            for (float[] query : gaussian(QUERIES, DIMENSION, new Random(92))) {
                SearchRequest request = SearchRequest.of(query, 10).effort(20).filter(some);
                SearchResult result = table.search(request).join();
                assertThat(result.cost().visited()).isBetween((long) allowed.size(), allowed.size() + 50L);
                Set<Long> nearest = Arrays.stream(
                                table.search(request.effort(ROWS)).join().ids())
                        .boxed()
                        .collect(Collectors.toSet());
                assertThat(allowed).containsAll(nearest);
                found += Arrays.stream(result.ids()).filter(nearest::contains).count();
            }
            assertThat(found).isGreaterThan(QUERIES * 10 * 98 / 100);
        }
    }

    private static long visited(HnswTable table, IdFilter filter) {
        long visited = 0;
        for (float[] query : gaussian(QUERIES, DIMENSION, new Random(92))) {
            SearchRequest request = SearchRequest.of(query, 10).effort(20).filter(filter);
            visited += table.search(request).join().cost().visited();
        }
        return visited;
    }
}
