package io.github.roost.bench.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.bench.ExactSearch;
import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.Priority;
import io.github.roost.core.task.TableClosedException;
import io.github.roost.core.vector.ElementType;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.TableBuild;
import io.github.roost.core.vector.TableStats;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.core.vector.VectorTable;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.index.remote.MappedMemory;
import io.github.roost.index.remote.PartitionedIndex;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every index promises as a {@link VectorTable}, asked of each in the same words. */
class VectorTableTest {
    private static final int ROWS = 800;
    private static final int DIMENSION = 12;
    private static final int K = 10;

    private static final float[][] VECTORS = gaussian(ROWS, new Random(1));
    private static final float[][] QUERIES = gaussian(20, new Random(2));

    @TempDir
    private static Path pools;

    /** An index; how it is built and opened is all that differs. */
    private enum Index {
        HNSW {
            @Override
            TableBuild<? extends VectorTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
                return HnswTable.builder().start(orchestrator, ids, rows);
            }

            @Override
            VectorTable build(Orchestrator orchestrator, Metric metric) {
                return HnswTable.builder().metric(metric).build(orchestrator, VECTORS);
            }

            @Override
            VectorTable open(Orchestrator orchestrator, Path file) throws IOException {
                return HnswTable.open(orchestrator, "opened", file);
            }

            @Override
            int exactEffort() {
                return ROWS;
            }
        },
        LIVE {
            @Override
            TableBuild<? extends VectorTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
                return LiveTable.builder().start(orchestrator, ids, rows);
            }

            @Override
            VectorTable build(Orchestrator orchestrator, Metric metric) {
                return LiveTable.builder().metric(metric).build(orchestrator, ids(), VECTORS);
            }

            @Override
            VectorTable open(Orchestrator orchestrator, Path file) throws IOException {
                return LiveTable.open(orchestrator, "opened", file);
            }

            @Override
            int exactEffort() {
                return ROWS;
            }
        },
        IVF {
            @Override
            TableBuild<? extends VectorTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
                return IvfTable.builder().nlist(20).start(orchestrator, ids, rows);
            }

            @Override
            VectorTable build(Orchestrator orchestrator, Metric metric) {
                return IvfTable.builder().metric(metric).nlist(20).build(orchestrator, VECTORS);
            }

            @Override
            VectorTable open(Orchestrator orchestrator, Path file) throws IOException {
                return IvfTable.open(orchestrator, "opened", file);
            }

            @Override
            int exactEffort() {
                return 20;
            }
        },
        REMOTE {
            @Override
            TableBuild<? extends VectorTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
                return start(orchestrator, Metric.SQUARED_L2, ids, rows);
            }

            @Override
            VectorTable build(Orchestrator orchestrator, Metric metric) {
                return start(orchestrator, metric, ids(), VectorSource.of(VECTORS))
                        .join();
            }

            private TableBuild<? extends VectorTable> start(
                    Orchestrator orchestrator, Metric metric, long[] ids, VectorSource rows) {
                return PartitionedIndex.builder()
                        .metric(metric)
                        .partitions(20)
                        .start(orchestrator, "remote", ids, rows, pools.resolve("pool"), RemoteTable.builder());
            }

            @Override
            VectorTable open(Orchestrator orchestrator, Path file) throws IOException {
                return RemoteTable.builder()
                        .open(
                                orchestrator,
                                "opened",
                                new MappedMemory(Objects.requireNonNull(file.getParent())),
                                file.getFileName().toString());
            }

            @Override
            int exactEffort() {
                return 20;
            }
        };

        /** Whether efforts are numbers of lists or partitions, of which there are 20. */
        boolean isInLists() {
            return exactEffort() == 20;
        }

        abstract VectorTable build(Orchestrator orchestrator, Metric metric);

        abstract TableBuild<? extends VectorTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows);

        abstract VectorTable open(Orchestrator orchestrator, Path file) throws IOException;

        /** With which a search of the rows finds the true neighbours. */
        abstract int exactEffort();

        static long[] ids() {
            return LongStream.range(0, ROWS).toArray();
        }
    }

    @TempDir
    private Path folder;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
            .build();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private static float[][] gaussian(int rows, Random random) {
        float[][] vectors = new float[rows][DIMENSION];
        for (float[] vector : vectors) {
            for (int d = 0; d < DIMENSION; d++) {
                vector[d] = (float) random.nextGaussian();
            }
        }
        return vectors;
    }

    private static long[] nearest(float[] query, int k) {
        return new ExactSearch(VECTORS).searchAll(new float[][] {query}, k)[0].ids();
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aRequestFindsWhatTheShorthandFinds(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            for (float[] query : QUERIES) {
                SearchResult result = table.search(SearchRequest.of(query, K).effort(index.exactEffort()))
                        .join();
                assertThat(result.neighbors().ids()).isEqualTo(nearest(query, K));
                assertThat(result.neighbors())
                        .isEqualTo(table.search(query, K, index.exactEffort()).join());
                assertThat(result.cutShort()).isFalse();
                assertThat(result.cost().visited()).isBetween((long) K, 2L * ROWS);
                assertThat(result.cost().expanded()).isBetween(index == Index.IVF ? 20L : 0, (long) ROWS);
                assertThat(table.search(SearchRequest.of(query, K)).join().neighbors())
                        .isEqualTo(table.search(query, K).join());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aFilterAndARadiusHoldTogether(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            for (float[] query : QUERIES) {
                Neighbors all = table.search(query, ROWS, index.exactEffort()).join();
                float radius = all.distances()[60];
                Neighbors found = table.search(SearchRequest.of(query, 1_000)
                                .effort(index.isInLists() ? 20 : 1_000)
                                .filter(IdFilter.of(id -> id % 3 == 0))
                                .radius(radius))
                        .join()
                        .neighbors();
                assertThat(found.ids())
                        .isEqualTo(Arrays.stream(all.ids(), 0, 61)
                                .filter(id -> id % 3 == 0)
                                .toArray());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void severalRequestsAreAnsweredInTheirOrderEachByItsOwnEffortAndK(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            List<SearchRequest> requests = Arrays.stream(QUERIES)
                    .map(query -> SearchRequest.of(query, 1 + (int) Math.abs(query[0] * 5))
                            .effort(index.isInLists() ? 1 + (int) Math.abs(query[1] * 3) : 20))
                    .toList();
            List<CompletableFuture<SearchResult>> answers = table.searchAll(requests);
            for (int i = 0; i < requests.size(); i++) {
                assertThat(answers.get(i).join().neighbors())
                        .isEqualTo(table.search(requests.get(i)).join().neighbors());
            }
            assertThat(table.searchAll(List.of())).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aTargetRecallIsReached(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            int hits = 0;
            for (float[] query : QUERIES) {
                long[] truth = nearest(query, K);
                Neighbors found = table.search(SearchRequest.of(query, K).targetRecall(.9))
                        .join()
                        .neighbors();
                hits += (int) Arrays.stream(found.ids())
                        .filter(id -> Arrays.stream(truth).anyMatch(other -> other == id))
                        .count();
            }
            assertThat(hits).isGreaterThan((int) (.75 * K * QUERIES.length));
            SearchResult most = table.search(SearchRequest.of(QUERIES[0], K).targetRecall(1))
                    .join();
            SearchResult least = table.search(SearchRequest.of(QUERIES[0], K).targetRecall(.1))
                    .join();
            assertThat(least.cost().visited()).isLessThanOrEqualTo(most.cost().visited());
            assertThat(table.effortFor(.9, K, QUERIES)).isBetween(1, 100_000);
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aVisitLimitEndsASearchEarlyAndSaysSo(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            SearchRequest whole = SearchRequest.of(QUERIES[0], K).effort(index.isInLists() ? 20 : 300);
            SearchResult cut = table.search(whole.visitLimit(50)).join();
            SearchResult all = table.search(whole).join();
            assertThat(cut.cutShort()).isTrue();
            assertThat(cut.cost().visited()).isLessThan(all.cost().visited());
            assertThat(cut.neighbors().size()).isBetween(1, K);
            assertThat(table.search(whole.visitLimit(1_000_000)).join().cutShort())
                    .isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void rowsArePutReplacedReadBackAndRemoved(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            assertThat(table.vector(17)).isEqualTo(VECTORS[17]);
            assertThat(table.vector(-1)).isNull();
            float[] far = new float[DIMENSION];
            Arrays.fill(far, 50);
            if (!table.isMutable()) {
                assertThatThrownBy(() -> table.put(1, far)).isInstanceOf(UnsupportedOperationException.class);
                assertThatThrownBy(() -> table.remove(1)).isInstanceOf(UnsupportedOperationException.class);
                return;
            }
            assertThat(table.put(9_000, far)).isTrue();
            assertThat(table.put(3, far)).isFalse();
            assertThat(table.size()).isEqualTo(ROWS + 1);
            assertThat(table.search(far, 2, index.exactEffort()).join().ids()).containsExactly(3, 9_000);
            assertThat(table.vector(3)).isEqualTo(far);
            assertThat(table.remove(3)).isTrue();
            assertThat(table.remove(3)).isFalse();
            assertThat(table.vector(3)).isNull();
            assertThat(table.search(far, 1, index.exactEffort()).join().ids()).containsExactly(9_000);
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aCosineTableGivesBackVectorsOfLengthOne(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.COSINE)) {
            float[] read = Objects.requireNonNull(table.vector(5));
            double length = Math.sqrt(LongStream.range(0, DIMENSION)
                    .mapToDouble(d -> VECTORS[5][(int) d] * VECTORS[5][(int) d])
                    .sum());
            for (int d = 0; d < DIMENSION; d++) {
                assertThat((double) read[d]).isCloseTo(VECTORS[5][d] / length, within(1e-6));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aSavedTableIsOpenedWithTheSameRowsAndFigures(Index index) throws IOException {
        Path file = folder.resolve("table.roost");
        TableStats before;
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            before = table.stats();
            table.save(file);
        }
        try (VectorTable table = index.open(orchestrator, file)) {
            TableStats after = table.stats();
            assertThat(after.name()).isEqualTo("opened");
            assertThat(after)
                    .usingRecursiveComparison()
                    .ignoringFields("name", "bytes")
                    .isEqualTo(before);
            assertThat(after.bytes()).isGreaterThanOrEqualTo((long) ROWS * DIMENSION * Float.BYTES);
            assertThat(after.elementType()).isEqualTo(ElementType.FLOAT32);
            assertThat(table.search(QUERIES[0], K, index.exactEffort()).join().ids())
                    .isEqualTo(nearest(QUERIES[0], K));
            assertThat(table.registration().clusters()).isEqualTo(index.isInLists() ? 20 : 1);
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void badRequestsAreRefusedAtOnceByName(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            SearchRequest good = SearchRequest.of(QUERIES[0], K);
            refused("dimensions, got 3", () -> table.search(SearchRequest.of(new float[3], K)));
            refused("must be finite, got NaN", () -> {
                float[] query = QUERIES[0].clone();
                query[4] = Float.NaN;
                var _ = table.search(query, K);
            });
            refused("got 1,000,000", () -> table.search(good.effort(1_000_000)));
            refused("got 1,000,000", () -> table.searchAll(List.of(good, good.effort(1_000_000))));
            refused("k must be between 1 and 10,000, got 0", () -> SearchRequest.of(QUERIES[0], 0));
            refused("got 10,001", () -> table.search(QUERIES[0], 10_001));
            refused("radius must be a number", () -> good.radius(Float.NaN));
            refused("effort must be at least 1, got 0", () -> good.effort(0));
            refused("at most 1, got 1.5", () -> good.targetRecall(1.5));
            refused("visit limit must be at least 1, got 0", () -> good.visitLimit(0));
            refused("the sample must have at least one query", () -> table.effortFor(.9, K, new float[0][]));
        }
    }

    private static void refused(String message, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void deadlineAndPriorityAreTheRequests(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            SearchRequest late = SearchRequest.of(QUERIES[0], K).timeout(Duration.ofNanos(1));
            assertThatThrownBy(() -> table.search(late).join()).hasCauseInstanceOf(DeadlineExceededException.class);
            assertThat(table.search(SearchRequest.of(QUERIES[0], K).priority(Priority.BATCH))
                            .join()
                            .neighbors())
                    .isEqualTo(table.search(QUERIES[0], K).join());
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aClosedTableAndAClosedOrchestratorRefuseInOneWay(Index index) throws IOException {
        VectorTable closed = index.build(orchestrator, Metric.SQUARED_L2);
        closed.close();
        closed.close();
        SearchRequest request = SearchRequest.of(QUERIES[0], K);
        assertThatThrownBy(() -> closed.search(request)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.search(QUERIES[0], K)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.search(QUERIES[0], K, 20)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.searchAll(List.of(request, request))).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.vector(1)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.save(folder.resolve("closed"))).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> closed.effortFor(.9, K, QUERIES)).isInstanceOf(TableClosedException.class);
        if (closed.isMutable()) {
            assertThatThrownBy(() -> closed.put(1, QUERIES[0])).isInstanceOf(TableClosedException.class);
            assertThatThrownBy(() -> closed.remove(1)).isInstanceOf(TableClosedException.class);
        }
        VectorTable open = index.build(orchestrator, Metric.SQUARED_L2);
        orchestrator.close();
        assertThatThrownBy(() -> open.search(request)).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.search(QUERIES[0], K)).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.searchAll(List.of(request, request)))
                .isInstanceOf(OrchestratorClosedException.class);
        open.close();
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aBuildOfASourceMakesTheTableThatArraysMake(Index index) {
        TableBuild<? extends VectorTable> build = index.start(orchestrator, Index.ids(), VectorSource.of(VECTORS));
        double before = 0;
        while (!build.result().isDone()) {
            double now = build.progress();
            assertThat(now).isBetween(before, 1.0);
            before = now;
        }
        try (VectorTable table = build.join();
                VectorTable expected = index.build(orchestrator, Metric.SQUARED_L2)) {
            assertThat(build.progress()).isEqualTo(1);
            assertThat(build.cancel()).isFalse();
            for (float[] query : QUERIES) {
                assertThat(table.search(query, K, index.exactEffort()).join())
                        .isEqualTo(
                                expected.search(query, K, index.exactEffort()).join());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aCancelledBuildEndsWithoutATable(Index index) {
        int tables = orchestrator.stats().tables().size();
        AtomicInteger reads = new AtomicInteger();
        VectorSource endless = new VectorSource() {
            @Override
            public int size() {
                return ROWS;
            }

            @Override
            public int dimension() {
                return DIMENSION;
            }

            @Override
            public void read(int row, float[] into) {
                reads.incrementAndGet();
                LockSupport.parkNanos(1_000_000);
                System.arraycopy(VECTORS[row], 0, into, 0, DIMENSION);
            }
        };
        TableBuild<? extends VectorTable> build = index.start(orchestrator, Index.ids(), endless);
        while (reads.get() == 0) {
            Thread.onSpinWait();
        }
        assertThat(build.cancel()).isTrue();
        assertThatThrownBy(build::join).isInstanceOf(CancellationException.class);
        assertThat(build.cancel()).isTrue();
        assertThat(reads.get()).isLessThan(ROWS);
        // What shows the work in reports goes when the last worker leaves it.
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (orchestrator.stats().tables().size() != tables && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        assertThat(orchestrator.stats().tables()).hasSize(tables);
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aBadRowFailsTheBuildByItsNumberAndBadIdsAreRefusedAtOnce(Index index) {
        float[][] rows = VECTORS.clone();
        rows[700] = VECTORS[700].clone();
        rows[700][3] = Float.NaN;
        TableBuild<? extends VectorTable> build = index.start(orchestrator, Index.ids(), VectorSource.of(rows));
        assertThatThrownBy(build::join)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("vector 700 must be finite");
        refused("one id a vector", () -> index.start(orchestrator, new long[3], VectorSource.of(VECTORS)));
        refused("got 0 twice", () -> index.start(orchestrator, new long[ROWS], VectorSource.of(VECTORS)));
    }
}
