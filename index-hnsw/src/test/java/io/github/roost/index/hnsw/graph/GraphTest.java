package io.github.roost.index.hnsw.graph;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.spi.BuildWork;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class GraphTest {
    private static final int ROWS = 2_000;
    private static final int DIMENSION = 16;

    private static Orchestrator orchestrator;
    private static float[][] rows;
    private static Graph graph;

    @BeforeAll
    static void build() {
        orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read())
                .build();
        rows = gaussian(ROWS, DIMENSION, new Random(5));
        graph = Graph.build(
                new BuildWork(orchestrator, "graph"),
                Metric.SQUARED_L2,
                16,
                100,
                LongStream.range(0, ROWS).map(row -> row * 3).toArray(),
                VectorSource.of(rows));
    }

    @AfterAll
    static void close() {
        orchestrator.close();
    }

    private static SearchResult search(Graph searched, float[] query, IdFilter alive, IdFilter wanted) {
        return searched.search(
                query, 5, 60, alive, wanted, Long.MAX_VALUE, SearchContext.outside((nodes, bytes) -> {}));
    }

    @Test
    void aCopyOfItsBytesFindsWhatItFinds() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(graph.memory().byteSize(), 64);
            copy.copyFrom(graph.memory());
            Graph opened = Graph.open("copy", copy);
            for (int row = 0; row < 100; row++) {
                SearchResult found = search(opened, rows[row], IdFilter.all(), IdFilter.all());
                assertThat(found).isEqualTo(search(graph, rows[row], IdFilter.all(), IdFilter.all()));
                assertThat(found.ids()[0]).isEqualTo(row * 3L);
            }
            assertThat(opened.rows()).isEqualTo(ROWS);
            assertThat(opened.dimension()).isEqualTo(DIMENSION);
            assertThat(opened.metric()).isEqualTo(Metric.SQUARED_L2);
            int row = (int) LongStream.range(0, ROWS)
                    .filter(i -> opened.id((int) i) == 21)
                    .findFirst()
                    .orElseThrow();
            assertThat(opened.vector(row)).isEqualTo(rows[7]);
        }
    }

    @Test
    void bothFiltersHold() {
        SearchResult found = search(graph, rows[8], IdFilter.of(id -> id != 24), IdFilter.of(id -> id % 2 == 0));
        assertThat(found.size()).isEqualTo(5);
        assertThat(LongStream.of(found.ids()).boxed()).allMatch(id -> id != 24 && id % 2 == 0);
    }

    @Test
    void aScanForSeveralQueriesFindsWhatSortingFinds() {
        IdFilter alive = IdFilter.of(id -> id % 7 != 0);
        IdFilter wanted = IdFilter.of(id -> id % 2 == 0);
        List<float[]> queries = List.of(rows).subList(0, 37);
        List<SearchResult> found =
                graph.scanTogether(queries, 5, alive, wanted, SearchContext.outside((nodes, bytes) -> {}));
        assertThat(found).hasSameSizeAs(queries);
        for (int query = 0; query < queries.size(); query++) {
            float[] vector = queries.get(query);
            Long[] expected = LongStream.range(0, ROWS)
                    .map(row -> row * 3)
                    .filter(id -> id % 7 != 0 && id % 2 == 0)
                    .boxed()
                    .sorted(Comparator.comparingDouble(id -> squaredL2(rows[(int) (id / 3)], vector)))
                    .limit(5)
                    .toArray(Long[]::new);
            SearchResult neighbors = found.get(query);
            assertThat(LongStream.of(neighbors.ids()).boxed()).containsExactly(expected);
            for (int i = 0; i < 5; i++) {
                assertThat((double) neighbors.distances()[i])
                        .isCloseTo(squaredL2(rows[(int) (expected[i] / 3)], vector), within(1e-4));
            }
            assertThat(found.get(query).cutShort()).isFalse();
        }
    }

    @Test
    void aScanOfEqualRowsFindsThoseThatCount() {
        float[][] equal = new float[300][];
        for (int row = 0; row < equal.length; row++) {
            equal[row] = rows[row / 30].clone();
        }
        Graph grouped = Graph.build(
                new BuildWork(orchestrator, "equal rows"),
                Metric.SQUARED_L2,
                16,
                100,
                LongStream.range(0, equal.length).toArray(),
                VectorSource.of(equal));
        // Of each 30 equal rows the last one counts.
        List<SearchResult> found = grouped.scanTogether(
                List.of(rows[3], rows[4]),
                2,
                IdFilter.of(id -> id % 30 == 29),
                IdFilter.all(),
                SearchContext.outside((nodes, bytes) -> {}));
        assertThat(found.get(0).ids()[0]).isEqualTo(119);
        assertThat(found.get(1).ids()[0]).isEqualTo(149);
        assertThat(found).allMatch(result -> result.size() == 2);
    }

    private static double squaredL2(float[] a, float[] b) {
        double sum = 0;
        for (int d = 0; d < a.length; d++) {
            sum += (double) (a[d] - b[d]) * (a[d] - b[d]);
        }
        return sum;
    }

    @Test
    void memoryThatHoldsNoWholeGraphIsRefusedByName() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(graph.memory().byteSize(), 64);
            copy.copyFrom(graph.memory());
            MemorySegment shorter = copy.asSlice(0, copy.byteSize() - 8);
            assertThatThrownBy(() -> Graph.open("part 7", shorter))
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageStartingWith("part 7 ")
                    .hasMessageContaining("its head says " + copy.byteSize());
            copy.asSlice(0, 8).fill((byte) 0);
            assertThatThrownBy(() -> Graph.open("part 7", copy)).isInstanceOf(FileFormatException.class);
        }
        assertThatThrownBy(() -> Graph.open("heap", MemorySegment.ofArray(new byte[8_192])))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
