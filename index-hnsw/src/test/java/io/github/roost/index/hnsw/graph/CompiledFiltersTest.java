package io.github.roost.index.hnsw.graph;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.testkit.MadeUp;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.spi.BuildWork;
import java.lang.ref.WeakReference;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CompiledFiltersTest {
    private static final SearchContext OUTSIDE = SearchContext.outside((nodes, bytes) -> {});

    @Test
    @Timeout(60)
    void theAnswersAreFreedAfterTheirFilter() {
        float[][] rows = MadeUp.gaussian(300, 4, new Random(51));
        try (Orchestrator orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build()) {
            Graph graph = Graph.build(
                    new BuildWork(orchestrator, "freed"),
                    Metric.SQUARED_L2,
                    8,
                    20,
                    LongStream.range(0, rows.length).toArray(),
                    VectorSource.of(rows));
            GraphVisit visit = new GraphVisit(OUTSIDE);
            IdFilter kept = IdFilter.of(id -> id % 2 == 0).cached();
            AllowedRows answers = graph.searcher().allowed(kept, AllowedRows.ALL, visit);
            WeakReference<AllowedRows> freed = new WeakReference<>(graph.searcher()
                    .allowed(IdFilter.of(id -> id % 2 == 1).cached(), AllowedRows.ALL, visit));
            while (freed.get() != null) {
                System.gc();
                // The next evaluation drops them.
                graph.searcher().allowed(IdFilter.of(id -> true), AllowedRows.ALL, visit);
            }
            assertThat(graph.searcher().allowed(kept, AllowedRows.ALL, visit)).isSameAs(answers);
        }
    }

    @Test
    void onlyRowsThatAreAliveAreAskedAboutUnlessTheAnswersAreKept() {
        float[][] rows = MadeUp.gaussian(300, 4, new Random(52));
        try (Orchestrator orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build()) {
            Graph graph = Graph.build(
                    new BuildWork(orchestrator, "alive"),
                    Metric.SQUARED_L2,
                    8,
                    20,
                    LongStream.range(0, rows.length).toArray(),
                    VectorSource.of(rows));
            AllowedRows alive = AllowedRows.full(graph.image());
            alive.remove(graph.image(), graph.row(17));
            IdFilter filter = IdFilter.of(id -> {
                if (id == 17) {
                    throw new IllegalStateException("17 is not alive");
                }
                return id < 20;
            });
            AllowedRows found = graph.searcher().allowed(filter, alive, new GraphVisit(OUTSIDE));
            assertThat(found.rows().size()).isEqualTo(19);
        }
    }
}
