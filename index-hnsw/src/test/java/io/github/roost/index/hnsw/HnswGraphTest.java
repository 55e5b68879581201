package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableFileException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.topology.TopologyReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class HnswGraphTest {
    private static final int ROWS = 2_000;
    private static final int DIMENSION = 16;

    private static Orchestrator orchestrator;
    private static float[][] rows;
    private static HnswGraph graph;

    @BeforeAll
    static void build() {
        orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read())
                .build();
        Random random = new Random(5);
        rows = new float[ROWS][DIMENSION];
        for (float[] row : rows) {
            for (int d = 0; d < DIMENSION; d++) {
                row[d] = (float) random.nextGaussian();
            }
        }
        graph = HnswGraph.build(
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

    private static SearchResult search(HnswGraph searched, float[] query, IdFilter alive, IdFilter wanted) {
        return searched.search(
                query, 5, 60, alive, wanted, Long.MAX_VALUE, SearchContext.outside((nodes, bytes) -> {}));
    }

    @Test
    void aCopyOfItsBytesFindsWhatItFinds() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(graph.memory().byteSize(), 64);
            copy.copyFrom(graph.memory());
            HnswGraph opened = HnswGraph.open("copy", copy);
            for (int row = 0; row < 100; row++) {
                SearchResult found = search(opened, rows[row], IdFilter.all(), IdFilter.all());
                assertThat(found).isEqualTo(search(graph, rows[row], IdFilter.all(), IdFilter.all()));
                assertThat(found.neighbors().ids()[0]).isEqualTo(row * 3L);
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
        assertThat(found.neighbors().size()).isEqualTo(5);
        assertThat(LongStream.of(found.neighbors().ids()).boxed()).allMatch(id -> id != 24 && id % 2 == 0);
    }

    @Test
    void memoryThatHoldsNoWholeGraphIsRefusedByName() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(graph.memory().byteSize(), 64);
            copy.copyFrom(graph.memory());
            MemorySegment shorter = copy.asSlice(0, copy.byteSize() - 8);
            assertThatThrownBy(() -> HnswGraph.open("part 7", shorter))
                    .isInstanceOf(TableFileException.class)
                    .hasMessageStartingWith("part 7 ")
                    .hasMessageContaining("its head says " + copy.byteSize());
            copy.asSlice(0, 8).fill((byte) 0);
            assertThatThrownBy(() -> HnswGraph.open("part 7", copy)).isInstanceOf(TableFileException.class);
        }
        assertThatThrownBy(() -> HnswGraph.open("heap", MemorySegment.ofArray(new byte[8_192])))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
