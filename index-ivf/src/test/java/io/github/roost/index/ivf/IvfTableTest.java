package io.github.roost.index.ivf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class IvfTableTest {
    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(twoDomains()).build();

    private static Topology twoDomains() {
        return new Topology(
                "test",
                DomainLevel.L3,
                false,
                List.of(
                        new CacheDomain(0, 0, List.of(0), 0, List.of(new Core(0, -1, List.of(0)))),
                        new CacheDomain(1, 0, List.of(0), 0, List.of(new Core(1, -1, List.of(1))))));
    }

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    static Stream<Arguments> kernelsMetricsAndDimensions() {
        return ScanKernels.all().stream()
                .flatMap(kernel -> Stream.of(Metric.values())
                        .flatMap(metric -> Stream.of(1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 100, 128, 255, 300)
                                .map(dimension -> Arguments.of(kernel.name(), metric, dimension))));
    }

    @ParameterizedTest
    @MethodSource("kernelsMetricsAndDimensions")
    void withAllListsScannedTheNeighborsAreThoseOfExactSearch(String kernel, Metric metric, int dimension) {
        Random random = new Random(dimension);
        // Small integers: every kernel's sums are exact, so ids and ties must be equal, not merely close.
        float[][] rows = integers(700, dimension, random);
        try (IvfTable table = IvfTable.builder()
                .metric(metric)
                .nlist(13)
                .kernel(kernel(kernel))
                .build(ORCHESTRATOR, rows)) {
            for (float[] query : integers(8, dimension, random)) {
                Neighbors found = table.search(query, 25, 13).join();
                Neighbors exact = exact(rows, query, 25, metric);
                if (metric == Metric.COSINE) {
                    for (int i = 0; i < 25; i++) {
                        assertThat(found.distances()[i]).isCloseTo(exact.distances()[i], within(1e-5f));
                    }
                } else {
                    assertThat(found).isEqualTo(exact);
                }
            }
        }
    }

    private static ScanKernel kernel(String name) {
        return ScanKernels.all().stream()
                .filter(kernel -> kernel.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void equalVectorsAreOrderedById() {
        float[][] rows = new float[100][7];
        try (IvfTable table = IvfTable.builder().nlist(4).build(ORCHESTRATOR, rows)) {
            assertThat(table.search(new float[7], 30, 4).join().ids())
                    .isEqualTo(LongStream.range(0, 30).toArray());
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void clusteredDataIsFoundInFewLists(Metric metric) {
        Random random = new Random(1);
        float[][] centers = gaussian(40, 32, random);
        float[][] rows = gaussian(4_000, 32, random);
        for (int row = 0; row < rows.length; row++) {
            for (int i = 0; i < 32; i++) {
                rows[row][i] = 6 * centers[row % 40][i] + rows[row][i];
            }
        }
        try (IvfTable table =
                IvfTable.builder().metric(metric).nlist(40).nprobe(6).build(ORCHESTRATOR, rows)) {
            int hits = 0;
            for (int query = 0; query < 100; query++) {
                long[] exact = exact(rows, rows[query], 10, metric).ids();
                hits += (int) Arrays.stream(table.search(rows[query], 10).join().ids())
                        .filter(id -> Arrays.stream(exact).anyMatch(e -> e == id))
                        .count();
            }
            assertThat(hits).isGreaterThan(900);
        }
    }

    @Test
    void theSameSeedGivesTheSameListsAndAnotherSeedOthers() {
        float[][] rows = gaussian(1_000, 16, new Random(2));
        List<Neighbors> first = answers(rows, 7);
        assertThat(answers(rows, 7)).isEqualTo(first);
        assertThat(answers(rows, 8)).isNotEqualTo(first);
    }

    private static List<Neighbors> answers(float[][] rows, long seed) {
        try (IvfTable table = IvfTable.builder().nlist(30).nprobe(1).seed(seed).build(ORCHESTRATOR, rows)) {
            return Stream.of(rows)
                    .limit(50)
                    .map(row -> table.search(row, 20).join())
                    .toList();
        }
    }

    @Test
    void scansReportWhatTheyTouch() {
        float[][] rows = gaussian(500, 12, new Random(3));
        try (IvfTable table = IvfTable.builder().name("touched").nlist(9).build(ORCHESTRATOR, rows)) {
            table.search(rows[0], 1, 9).join();
            OrchestratorStats.TableStats stats = ORCHESTRATOR.stats().tables().stream()
                    .filter(each -> each.name().equals("touched"))
                    .findFirst()
                    .orElseThrow();
            assertThat(stats.trafficBytes()).isEqualTo(500L * 12 * 4);
            assertThat(stats.searches()).isEqualTo(9);
        }
    }

    @Test
    void aClosedTableRefusesSearchesAndLetsAcceptedOnesFinish() {
        float[][] rows = gaussian(5_000, 32, new Random(4));
        IvfTable table = IvfTable.builder().nlist(50).build(ORCHESTRATOR, rows);
        List<CompletableFuture<Neighbors>> accepted = new ArrayList<>();
        for (int query = 0; query < 20; query++) {
            accepted.add(table.search(rows[query], 5, 40));
        }
        table.close();
        for (int query = 0; query < 20; query++) {
            assertThat(accepted.get(query).join().ids()[0]).isEqualTo(query);
        }
        assertThatThrownBy(() -> table.search(rows[0], 5)).hasMessageContaining("unregistered");
        table.close();
    }

    @Test
    void badInputIsNamed() {
        float[][] rows = gaussian(10, 4, new Random(8));
        assertThatThrownBy(() -> IvfTable.builder().nlist(11).build(ORCHESTRATOR, rows))
                .hasMessageContaining("nlist must be at most the number of rows, 10, got 11");
        assertThatThrownBy(() -> IvfTable.builder().nlist(0)).hasMessageContaining("nlist must be between 1");
        assertThatThrownBy(() -> IvfTable.builder().build(ORCHESTRATOR, new float[0][]))
                .hasMessageContaining("got none");
        assertThatThrownBy(() -> IvfTable.builder().build(ORCHESTRATOR, new float[][] {{1}, {Float.POSITIVE_INFINITY}}))
                .hasMessageContaining("vector 1 must be finite");
        try (IvfTable table = IvfTable.builder().nlist(3).build(ORCHESTRATOR, rows)) {
            assertThatThrownBy(() -> table.search(rows[0], 0)).hasMessageContaining("k must be between 1");
            assertThatThrownBy(() -> table.search(rows[0], 1, 4))
                    .hasMessageContaining("nprobe must be between 1 and 3");
            assertThatThrownBy(() -> table.search(new float[5], 1)).hasMessageContaining("4 dimensions, got 5");
        }
    }

    @Test
    void aSearchWiderThanTheRingsIsRefusedWhole() {
        float[][] rows = gaussian(300, 4, new Random(5));
        try (Orchestrator small = Orchestrator.builder()
                        .topology(twoDomains())
                        .ringCapacity(8)
                        .build();
                IvfTable table = IvfTable.builder().nlist(100).build(small, rows)) {
            assertThatThrownBy(() -> table.search(rows[0], 1, 100)).isInstanceOf(RejectedSearchException.class);
            assertThat(table.search(rows[0], 1, 4).join().ids()).containsExactly(0);
        }
    }

    private static float[][] integers(int rows, int dimension, Random random) {
        float[][] values = new float[rows][dimension];
        for (float[] row : values) {
            for (int i = 0; i < dimension; i++) {
                row[i] = random.nextInt(-4, 5);
            }
            row[0] = row[0] == 0 ? 1 : row[0];
        }
        return values;
    }

    private static float[][] gaussian(int rows, int dimension, Random random) {
        float[][] values = new float[rows][dimension];
        for (float[] row : values) {
            for (int i = 0; i < dimension; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        return values;
    }

    private static Neighbors exact(float[][] rows, float[] query, int k, Metric metric) {
        long[] ids = LongStream.range(0, rows.length).toArray();
        float[] distances = new float[rows.length];
        for (int row = 0; row < rows.length; row++) {
            distances[row] = distance(rows[row], query, metric);
        }
        return Neighbors.merge(List.of(Neighbors.sorted(ids, distances)), k);
    }

    private static float distance(float[] a, float[] b, Metric metric) {
        double squares = 0;
        double dot = 0;
        double aa = 0;
        double bb = 0;
        for (int i = 0; i < a.length; i++) {
            squares += (a[i] - b[i]) * (double) (a[i] - b[i]);
            dot += a[i] * (double) b[i];
            aa += a[i] * (double) a[i];
            bb += b[i] * (double) b[i];
        }
        return (float)
                switch (metric) {
                    case SQUARED_L2 -> squares;
                    case INNER_PRODUCT -> -dot;
                    case COSINE -> 1 - dot / Math.sqrt(aa * bb);
                };
    }
}
