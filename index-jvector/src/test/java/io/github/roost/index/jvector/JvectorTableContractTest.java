package io.github.roost.index.jvector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.SearchContract;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.Test;

class JvectorTableContractTest extends SearchContract<JvectorTable> {
    @Override
    protected JvectorTable build(Orchestrator places, Metric metric) {
        JvectorTable.Builder builder = JvectorTable.builder().metric(metric);
        RandomAccessVectorValues vectors = Graphs.vectors(VECTORS);
        try {
            return builder.build(places, Graphs.build(vectors, Scores.function(metric)), vectors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void anExactSearchComparesAllRowsAndEndsWhenItHasExpired() {
        try (JvectorTable table = build(orchestrator, Metric.SQUARED_L2)) {
            SearchRequest request = SearchRequest.of(VECTORS[1], K);
            SearchResult exact = table.exact(request, SearchContext.outside((nodes, bytes) -> {}));
            assertThat(exact.ids())
                    .isEqualTo(new ExactSearch(VECTORS).search(VECTORS[1], K).ids());
            assertThat(exact.cost().visited()).isEqualTo(ROWS);
            assertThatThrownBy(() -> table.exact(request, SearchContext.outside((nodes, bytes) -> {}, () -> true)))
                    .isInstanceOf(DeadlineExceededException.class);
        }
    }
}
