package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.index.ivf.kernel.PlainScan;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.testkit.Asking;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.math.ScalarQuantizer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RangeSearchTest {
    private static final int DIMENSION = 11;
    private static final int ROWS = 900;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .build();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    static Stream<Arguments> metricsAndKept() {
        return Arrays.stream(Metric.values())
                .flatMap(metric ->
                        Stream.of(Kept.FLOATS, Kept.CODED_FLOATS, Kept.BOTH).map(kept -> Arguments.of(metric, kept)));
    }

    /** A radius is where a row lies, so that rows on it are within it. */
    @ParameterizedTest
    @MethodSource("metricsAndKept")
    void allRowsWithinTheRadiusAreFoundAndNoOthers(Metric metric, Kept kept) {
        Random random = new Random(41);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        long[] ids = random.longs().distinct().limit(ROWS).toArray();
        RowPreparation preparation = new RowPreparation(metric, DIMENSION, ElementType.FLOAT32);
        try (IvfTable table = kept.builder().metric(metric).nlist(12).build(orchestrator, ids, rows)) {
            for (float[] query : gaussian(10, DIMENSION, random)) {
                SearchResult all =
                        PlainScan.nearest(metric, preparation.prepareRows(rows), ids, preparation.stored(query), ROWS);
                for (int within : new int[] {0, 1, 7, 200, ROWS - 1}) {
                    float radius = all.distances()[within];
                    assertThat(table.search(SearchRequest.of(query, ROWS)
                                            .radius(radius)
                                            .effort(12))
                                    .join())
                            .isEqualTo(first(all, within + 1));
                }
                assertThat(table.search(SearchRequest.of(query, 10_000)
                                        .radius(Float.POSITIVE_INFINITY)
                                        .effort(12))
                                .join())
                        .isEqualTo(all);
                float nearer = Math.nextDown(all.distances()[0]);
                assertThat(table.search(SearchRequest.of(query, 10)
                                        .radius(nearer)
                                        .effort(12))
                                .join())
                        .isEqualTo(SearchResult.EMPTY);
            }
        }
    }

    private static SearchResult first(SearchResult all, int count) {
        return new SearchResult(Arrays.copyOf(all.ids(), count), Arrays.copyOf(all.distances(), count));
    }

    @Test
    void ofMoreRowsThanTheLimitTheNearestAreFound() {
        float[][] rows = new float[500][1];
        for (int i = 0; i < rows.length; i++) {
            rows[i][0] = Math.floorDiv(i, 2);
        }
        try (IvfTable table = IvfTable.builder().nlist(9).build(orchestrator, rows)) {
            SearchResult found = table.search(
                            SearchRequest.of(new float[1], 5).radius(100 * 100).effort(9))
                    .join();
            assertThat(found.ids()).containsExactly(0, 1, 2, 3, 4);
            assertThat(found.distances()).containsExactly(0, 0, 1, 1, 4);
            assertThat(table.search(SearchRequest.of(new float[1], 300)
                                    .radius(100 * 100)
                                    .effort(9))
                            .join()
                            .size())
                    .isEqualTo(202);
        }
    }

    /** Rows that are met twice take the room of others. */
    @Test
    void whatCandidatesMetTwiceHaveLeftOutIsLookedForAgain() {
        RowLayout layout = new RowLayout(
                ElementType.INT8,
                1,
                new ScalarCodec(
                        Metric.SQUARED_L2, new ScalarQuantizer(new float[] {128}), new ScalarCodec.Loss(128, 0)),
                Float.BYTES);
        RowList list = new RowList(layout);
        for (int id = 0; id < 150; id++) {
            list.add(id % 100, new float[] {id % 100});
        }
        CoarseQuantizer quantizer = new CoarseQuantizer(ScanKernels.preferred(), new float[][] {{0}});
        IvfRows.View whileARowMoves = new IvfRows.View(new Lists(quantizer, layout, new RowList[] {list}), 1, () -> 1);
        CodeScanner scanner = CodeScanner.approximate(ScanKernels.preferred(), Metric.SQUARED_L2, 1, 0);
        IvfRequest request = new IvfRequest(new StoredQuery(new float[1]), 100, 100, 1e6f, null, Long.MAX_VALUE, 0);
        CodeQuery query = scanner.query(request, whileARowMoves);
        scanner.scan(list, List.of(query), SearchContext.outside((nodes, bytes) -> {}));
        assertThat(query.result().lacks()).isTrue();
    }

    @Test
    void whatChangesIsSeenByTheNextRangeSearch() {
        float[][] rows = gaussian(200, DIMENSION, new Random(42));
        try (IvfTable table = IvfTable.builder().nlist(4).nprobe(4).build(orchestrator, rows)) {
            float[] far = new float[DIMENSION];
            Arrays.fill(far, 100);
            assertThat(table.search(SearchRequest.of(far, 10).radius(4)).join().size())
                    .isZero();
            table.add(1_000, far);
            table.update(7, far);
            assertThat(table.search(SearchRequest.of(far, 10).radius(4)).join().ids())
                    .containsExactly(7, 1_000);
            table.remove(7);
            assertThat(table.search(SearchRequest.of(far, 10).radius(4)).join().ids())
                    .containsExactly(1_000);
        }
    }

    /** Lists of few rows and searches for many, side by side in one group. */
    @Test
    void searchesOfEveryKindShareScans() {
        Random random = new Random(43);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        float[][] queries = gaussian(60, DIMENSION, random);
        long[] ids = IntStream.range(0, ROWS).asLongStream().toArray();
        try (IvfTable table = IvfTable.builder().nlist(3).build(orchestrator, rows)) {
            List<SearchResult> expected = Arrays.stream(queries)
                    .map(query -> PlainScan.nearest(Metric.SQUARED_L2, rows, ids, query, 300))
                    .toList();
            for (int round = 0; round < 5; round++) {
                var ranges = IntStream.range(0, queries.length)
                        .mapToObj(i -> table.search(SearchRequest.of(queries[i], 300)
                                .radius(expected.get(i).distances()[i])
                                .effort(3)))
                        .toList();
                var nearest = Asking.all(table, List.of(queries), 300, 3);
                for (int i = 0; i < queries.length; i++) {
                    assertThat(ranges.get(i).join()).isEqualTo(first(expected.get(i), i + 1));
                    assertThat(nearest.get(i).join()).isEqualTo(expected.get(i));
                }
            }
        }
    }

    @Test
    void badInputIsNamed() {
        float[][] rows = gaussian(20, DIMENSION, new Random(44));
        try (IvfTable table = IvfTable.builder().nlist(2).build(orchestrator, rows)) {
            assertThatThrownBy(() -> table.search(SearchRequest.of(rows[0], 5).radius(Float.NaN)))
                    .hasMessage("radius must be a number, got NaN");
            assertThatThrownBy(() -> table.search(SearchRequest.of(rows[0], 0).radius(1)))
                    .hasMessage("k must be between 1 and 10,000, got 0");
            assertThatThrownBy(
                            () -> table.search(SearchRequest.of(rows[0], 10_001).radius(1)))
                    .hasMessage("k must be between 1 and 10,000, got 10,001");
            assertThatThrownBy(() ->
                            table.search(SearchRequest.of(rows[0], 1).radius(1).effort(3)))
                    .hasMessage("nprobe must be between 1 and 2, got 3");
            assertThatThrownBy(
                            () -> table.search(SearchRequest.of(new float[1], 1).radius(1)))
                    .hasMessageContaining("got 1");
            assertThatThrownBy(() -> Asking.all(table, List.of(rows[0], new float[1]), 1, 1))
                    .hasMessageContaining("query 1 must have 11 dimensions, got 1");
        }
    }
}
