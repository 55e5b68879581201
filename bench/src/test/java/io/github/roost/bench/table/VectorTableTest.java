package io.github.roost.bench.table;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.Priority;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.TableClosedException;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.DiskTableBuilder;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.index.remote.MappedMemory;
import io.github.roost.index.remote.MutableRemoteTable;
import io.github.roost.index.remote.PartitionedIndex;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.Metric;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFullException;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every index promises as a {@link VectorTable}, asked of each in the same words. */
@Tag("stress")
class VectorTableTest {
    private static final int ROWS = 800;
    private static final int DIMENSION = 12;
    private static final int K = 10;

    private static final float[][] VECTORS = gaussian(ROWS, DIMENSION, new Random(1));
    private static final float[][] QUERIES = gaussian(20, DIMENSION, new Random(2));

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
        DISK {
            @Override
            TableBuild<? extends VectorTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
                return startOnDisk(DiskTable.builder(), orchestrator, ids, rows);
            }

            @Override
            VectorTable build(Orchestrator orchestrator, Metric metric) {
                return startOnDisk(DiskTable.builder().metric(metric), orchestrator, ids(), VectorSource.of(VECTORS))
                        .join();
            }

            @Override
            VectorTable open(Orchestrator orchestrator, Path file) throws IOException {
                return DiskTable.open(orchestrator, io(orchestrator), "opened", file);
            }

            @Override
            int exactEffort() {
                return ROWS;
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

        /** Block I/O of a test's orchestrator, closed after it. */
        private static final Map<Orchestrator, BlockIo> IO = new ConcurrentHashMap<>();

        private static final AtomicInteger FILES = new AtomicInteger();

        private static TableBuild<? extends VectorTable> startOnDisk(
                DiskTableBuilder options, Orchestrator orchestrator, long[] ids, VectorSource rows) {
            Path file = pools.resolve("disk-" + FILES.incrementAndGet());
            return options.start(orchestrator, io(orchestrator), "disk", file, ids, rows);
        }

        static BlockIo io(Orchestrator orchestrator) {
            return IO.computeIfAbsent(
                    Objects.requireNonNull(orchestrator, "orchestrator must not be null"),
                    its -> BlockIo.builder(its).build());
        }

        static void closeIo(Orchestrator orchestrator) {
            BlockIo io = IO.remove(orchestrator);
            if (io != null) {
                io.close();
            }
        }

        /** Whether efforts are numbers of lists or partitions, of which there are 20. */
        boolean isInLists() {
            return exactEffort() == 20;
        }

        /** A table in memory whose rows take more than the limit. */
        TableBuild<? extends VectorTable> startLimited(
                Orchestrator orchestrator, long[] ids, VectorSource rows, long limit) {
            return switch (this) {
                case HNSW -> HnswTable.builder().memoryLimit(limit).start(orchestrator, ids, rows);
                case LIVE -> LiveTable.builder().memoryLimit(limit).start(orchestrator, ids, rows);
                default -> IvfTable.builder().nlist(20).memoryLimit(limit).start(orchestrator, ids, rows);
            };
        }

        /** A table of more rows, whose graph need not be good. */
        TableBuild<? extends VectorTable> startLarge(Orchestrator orchestrator, long[] ids, VectorSource rows) {
            return switch (this) {
                case HNSW -> HnswTable.builder().m(4).efConstruction(4).start(orchestrator, ids, rows);
                case LIVE -> LiveTable.builder().m(4).efConstruction(4).start(orchestrator, ids, rows);
                case DISK -> startOnDisk(DiskTable.builder().degree(4).buildWidth(4), orchestrator, ids, rows);
                default -> start(orchestrator, ids, rows);
            };
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
        Index.closeIo(orchestrator);
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
                assertThat(result.ids()).isEqualTo(nearest(query, K));
                assertThat(result)
                        .isEqualTo(table.search(query, K, index.exactEffort()).join());
                assertThat(result.cutShort()).isFalse();
                assertThat(result.cost().visited()).isBetween((long) K, 2L * ROWS);
                assertThat(result.cost().expanded()).isBetween(index == Index.IVF ? 20L : 0, (long) ROWS);
                assertThat(table.search(SearchRequest.of(query, K)).join())
                        .isEqualTo(table.search(query, K).join());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aFilterAndARadiusHoldTogether(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            for (float[] query : QUERIES) {
                SearchResult all = table.search(query, ROWS, index.exactEffort()).join();
                float radius = all.distances()[60];
                SearchResult found = table.search(SearchRequest.of(query, 1_000)
                                .effort(index.isInLists() ? 20 : 1_000)
                                .filter(IdFilter.of(id -> id % 3 == 0))
                                .radius(radius))
                        .join();
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
                assertThat(answers.get(i).join())
                        .isEqualTo(table.search(requests.get(i)).join());
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
                SearchResult found = table.search(SearchRequest.of(query, K).targetRecall(.9))
                        .join();
                hits += (int) Arrays.stream(found.ids())
                        .filter(id -> Arrays.stream(truth).anyMatch(other -> other == id))
                        .count();
            }
            assertThat(hits).isGreaterThan((int) (.75 * K * QUERIES.length));
            SearchResult highRecall = table.search(
                            SearchRequest.of(QUERIES[0], K).targetRecall(1))
                    .join();
            SearchResult lowRecall = table.search(
                            SearchRequest.of(QUERIES[0], K).targetRecall(.1))
                    .join();
            assertThat(lowRecall.cost().visited())
                    .isLessThanOrEqualTo(highRecall.cost().visited());
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
            assertThat(cut.size()).isBetween(1, K);
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
            if (!(table instanceof MutableVectorTable mutable)) {
                return;
            }
            assertThat(mutable.put(9_000, far)).isTrue();
            assertThat(mutable.put(3, far)).isFalse();
            assertThat(table.size()).isEqualTo(ROWS + 1);
            assertThat(table.search(far, 2, index.exactEffort()).join().ids()).containsExactly(3, 9_000);
            assertThat(table.vector(3)).isEqualTo(far);
            assertThat(mutable.remove(3)).isTrue();
            assertThat(mutable.remove(3)).isFalse();
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
            if (index != Index.REMOTE) {
                assertThat(after.bytes())
                        .isGreaterThanOrEqualTo((long) ROWS * (index == Index.DISK ? 8 : DIMENSION * Float.BYTES));
            }
            assertThat(after.elementType()).isEqualTo(ElementType.FLOAT32);
            assertThat(table.search(QUERIES[0], K, index.exactEffort()).join().ids())
                    .isEqualTo(nearest(QUERIES[0], K));
            // A remote table has fetched all by now.
            assertThat(table.bytes()).isGreaterThanOrEqualTo((long) ROWS * DIMENSION * Float.BYTES);
            assertThat(table.registration().size()).isEqualTo(index.isInLists() ? 20 : 1);
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
            int least = table.minEffort(K);
            assertThat(table.search(good.effort(least)).join().size())
                    .isBetween(1, K);
            refused("got " + (least - 1), () -> table.search(QUERIES[0], K, least - 1));
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    @SuppressWarnings("NullAway") // what is under test
    void nullsAreRefusedByName(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            SearchRequest good = SearchRequest.of(QUERIES[0], K);
            refusedNull("query", () -> table.search(null, K));
            refusedNull("query", () -> SearchRequest.of(null, K));
            refusedNull("request", () -> table.search(null));
            refusedNull("filter", () -> good.filter(null));
            refusedNull("requests", () -> table.searchAll(null));
            refusedNull("request 1", () -> table.searchAll(Arrays.asList(good, null)));
            refusedNull("sample", () -> table.effortFor(.9, K, null));
            refusedNull("query 1", () -> table.effortFor(.9, K, new float[][] {QUERIES[0], null}));
            refusedNull("orchestrator", () -> index.build(null, Metric.SQUARED_L2));
            refusedNull("metric", () -> index.build(orchestrator, null));
            refusedNull("file", () -> table.save(null));
            refusedNull("rows", () -> index.start(orchestrator, Index.ids(), null));
            refusedNull("ids", () -> index.start(orchestrator, null, VectorSource.of(VECTORS)));
            refusedNull("rows", () -> VectorSource.of((float[][]) null));
            refusedNull("vector 1", () -> VectorSource.of(new float[][] {QUERIES[0], null}));
            if (table instanceof HnswTable hnsw) {
                refusedNull("next", () -> hnsw.swap(null));
                refusedNull("vectors", () -> HnswTable.builder().build(orchestrator, (float[][]) null));
            }
            if (index == Index.IVF) {
                refusedNull("vectors", () -> IvfTable.builder().build(orchestrator, (float[][]) null));
            }
            if (table instanceof MutableVectorTable mutable) {
                assertThatThrownBy(() -> mutable.put(1, null))
                        .isInstanceOf(NullPointerException.class)
                        .hasMessageMatching("vector( 0)? must not be null");
            }
            assertThat(table).hasToString(table.stats().toString());
        }
    }

    private static void refusedNull(String argument, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(argument + " must not be null");
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
                            .join())
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
        assertThatThrownBy(closed::verify).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> reorganise(closed)).isInstanceOf(TableClosedException.class);
        if (closed instanceof MutableVectorTable mutable) {
            assertThatThrownBy(() -> mutable.put(1, QUERIES[0])).isInstanceOf(TableClosedException.class);
            assertThatThrownBy(() -> mutable.remove(1)).isInstanceOf(TableClosedException.class);
        }
        VectorTable open = index.build(orchestrator, Metric.SQUARED_L2);
        orchestrator.close();
        assertThatThrownBy(() -> open.search(request)).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.search(QUERIES[0], K)).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.search(request.targetRecall(.9))).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.searchAll(List.of(request, request)))
                .isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> open.searchAll(List.of(request, request.targetRecall(.9))))
                .isInstanceOf(OrchestratorClosedException.class);
        if (open instanceof MutableVectorTable mutable) {
            assertThatThrownBy(() -> mutable.put(1, QUERIES[0])).isInstanceOf(OrchestratorClosedException.class);
            assertThatThrownBy(() -> mutable.remove(1)).isInstanceOf(OrchestratorClosedException.class);
        }
        assertThatThrownBy(() -> open.effortFor(.9, K, QUERIES)).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> reorganise(open)).isInstanceOf(OrchestratorClosedException.class);
        assertThatThrownBy(() -> index.start(orchestrator, Index.ids(), VectorSource.of(VECTORS)))
                .isInstanceOf(OrchestratorClosedException.class);
        open.close();
    }

    /** Begins what an index offers to bring a changed table into shape. */
    private static void reorganise(VectorTable table) throws Exception {
        switch (table) {
            case LiveTable live -> live.freeze();
            case IvfTable ivf -> ivf.rebuild();
            case MutableRemoteTable remote -> remote.rebuild(0);
            // It has nothing of the kind.
            default -> {
                var _ = table.search(QUERIES[0], K);
            }
        }
    }

    /** Runs on a worker until it is let go. It spins, because a worker whose thread blocks is given another one. */
    private static final class Spin {
        private final AtomicInteger begun = new AtomicInteger();
        private final AtomicBoolean ends = new AtomicBoolean();

        boolean untilItEnds() {
            begun.incrementAndGet();
            while (!ends.get()) {
                Thread.onSpinWait();
            }
            return true;
        }

        void awaitBegun() {
            while (begun.get() == 0) {
                Thread.onSpinWait();
            }
        }
    }

    private static Orchestrator.Builder oneWorker() {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read());
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    @Timeout(120)
    void aFullQueueIsThrownByASearchAndInTheFutureOfOneOfSeveral(Index index) {
        Spin spin = new Spin();
        try (Orchestrator full = oneWorker()
                        .ringCapacity(1)
                        .overloadPolicy(OverloadPolicy.reject())
                        .build();
                Closing _ = () -> Index.closeIo(full);
                VectorTable table = index.build(full, Metric.SQUARED_L2)) {
            SearchRequest request = SearchRequest.of(QUERIES[0], K).effort(index.exactEffort());
            long[] nearest = nearest(QUERIES[0], K);
            SearchFunction<Integer, Boolean> keepsTheWorker = (none, context) -> spin.untilItEnds();
            CompletableFuture<Boolean> kept =
                    full.submit(keepsTheWorker, 0, full.register("other").id());
            spin.awaitBegun();
            List<CompletableFuture<SearchResult>> accepted = new ArrayList<>();
            RejectedSearchException refused = null;
            while (refused == null && accepted.size() < 10_000) {
                try {
                    accepted.add(table.search(request));
                } catch (RejectedSearchException full1) {
                    refused = full1;
                }
            }
            assertThat(refused).isNotNull();
            assertThatThrownBy(() -> table.search(QUERIES[0], K)).isInstanceOf(RejectedSearchException.class);
            assertThatThrownBy(() -> table.search(QUERIES[0], K, index.exactEffort()))
                    .isInstanceOf(RejectedSearchException.class);
            List<CompletableFuture<SearchResult>> several = table.searchAll(List.of(request, request.radius(50)));
            assertThat(several)
                    .hasSize(2)
                    .allSatisfy(search ->
                            assertThatThrownBy(search::join).hasCauseInstanceOf(RejectedSearchException.class));
            spin.ends.set(true);
            assertThat(kept.join()).isTrue();
            assertThat(accepted)
                    .isNotEmpty()
                    .allSatisfy(search ->
                            assertThat(search.join().ids()).isEqualTo(nearest));
            assertThat(onceAccepted(() -> table.search(request))
                            .join()
                            .ids())
                    .isEqualTo(nearest);
        } finally {
            spin.ends.set(true);
        }
    }

    /** A task of a group whose queries another task has answered keeps its place until its worker has taken it. */
    private static CompletableFuture<SearchResult> onceAccepted(Supplier<CompletableFuture<SearchResult>> search) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (true) {
            try {
                return search.get();
            } catch (RejectedSearchException full) {
                if (System.nanoTime() - end > 0) {
                    throw full;
                }
                Thread.onSpinWait();
            }
        }
    }

    /** A resource whose end fails in no checked way. */
    private interface Closing extends AutoCloseable {
        @Override
        void close();
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    @Timeout(120)
    void searchesThatAClosedOrchestratorDidNotFinishInTimeFail(Index index) {
        Spin spin = new Spin();
        Orchestrator hurried = oneWorker().build();
        try {
            VectorTable table = index.build(hurried, Metric.SQUARED_L2);
            SearchRequest request = SearchRequest.of(QUERIES[0], K).effort(index.exactEffort());
            CompletableFuture<SearchResult> running =
                    table.search(request.filter(IdFilter.of(id -> spin.untilItEnds())));
            spin.awaitBegun();
            CompletableFuture<SearchResult> waiting = table.search(request);
            assertThat(hurried.close(Duration.ofMillis(20))).isFalse();
            assertThatThrownBy(running::join).hasCauseInstanceOf(OrchestratorClosedException.class);
            assertThatThrownBy(waiting::join).hasCauseInstanceOf(OrchestratorClosedException.class);
            spin.ends.set(true);
            table.close();
        } finally {
            spin.ends.set(true);
            hurried.close();
            Index.closeIo(hurried);
        }
    }

    /** Only indexes in memory have a limit while they are built: a table on disk is written to its file, a remote one to its pool. */
    @ParameterizedTest
    @EnumSource(names = {"HNSW", "LIVE", "IVF"})
    void aBuildThatExceedsItsLimitOnlyAtItsEndFailsItsFuture(Index index) {
        long bytes;
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            bytes = table.bytes();
        }
        TableBuild<? extends VectorTable> build =
                index.startLimited(orchestrator, Index.ids(), VectorSource.of(VECTORS), bytes - 1);
        assertThatThrownBy(build::join).isInstanceOf(TableFullException.class);
        assertThatThrownBy(() -> build.result().join()).hasCauseInstanceOf(TableFullException.class);
    }

    @Test
    void aFullLogInRemoteMemoryIsAFullTable() {
        TableBuild<MutableRemoteTable> build = PartitionedIndex.builder()
                .partitions(20)
                .gap(0)
                .start(
                        orchestrator,
                        "remote",
                        Index.ids(),
                        VectorSource.of(VECTORS),
                        pools.resolve("small-logs"),
                        RemoteTable.builder().rebuildsFullLogs(false));
        try (MutableRemoteTable table = build.join()) {
            assertThatThrownBy(() -> {
                        for (int change = 0; change < 100_000; change++) {
                            table.put(17, VECTORS[17]);
                        }
                    })
                    .isInstanceOf(TableFullException.class)
                    .hasMessageContaining("remote is full");
            assertThat(table.search(VECTORS[17], 1, 20).join().ids()).containsExactly(17);
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void whatWasAcceptedFinishesBeforeCloseReturnsAndThenNobodyReadsTheFile(Index index) throws IOException {
        Path file = folder.resolve("table.roost");
        try (VectorTable built = index.build(orchestrator, Metric.SQUARED_L2)) {
            built.save(file);
        }
        long[] nearest = nearest(QUERIES[0], K);
        // A search on disk reads every page of it.
        int rounds = index == Index.DISK ? 2 : 10;
        for (int round = 0; round < rounds; round++) {
            VectorTable table = index.open(orchestrator, file);
            List<CompletableFuture<SearchResult>> accepted = new ArrayList<>();
            for (int search = 0; search < 200; search++) {
                accepted.add(table.search(QUERIES[0], K, index.exactEffort()));
            }
            SearchFunction<float[], SearchResult> function = searchInTheCaller(table, index.exactEffort());
            AtomicReference<Throwable> ended = new AtomicReference<>();
            Thread outside = Thread.ofPlatform().start(() -> {
                while (ended.get() == null) {
                    try {
                        assertThat(function.search(QUERIES[0], SearchContext.outside((nodes, bytes) -> {}))
                                        .ids())
                                .isEqualTo(nearest);
                    } catch (Throwable thrown) {
                        ended.set(thrown);
                    }
                }
            });
            table.close();
            // Whoever still read the mapping would end this JVM.
            Path copy = Files.copy(file, folder.resolve("copy"));
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(0);
            }
            assertThat(accepted)
                    .allSatisfy(search -> assertThat(search.join().ids()).isEqualTo(nearest));
            join(outside);
            assertThat(ended.get()).isInstanceOf(TableClosedException.class);
            assertThat(table.bytes()).isZero();
            assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain(file.toString());
            Files.move(copy, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** A search that reads the table's memory in the thread that calls it, if the index has one. */
    private static SearchFunction<float[], SearchResult> searchInTheCaller(VectorTable table, int effort) {
        return switch (table) {
            case HnswTable hnsw -> hnsw.searchFunction(K, effort);
            case LiveTable live -> live.searchFunction(K, effort);
            case IvfTable ivf -> ivf.searchFunction(K, effort);
            default -> (query, context) -> table.search(query, K, effort).join();
        };
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void insideASearchCloseReturnsAndTheMemoryIsFreedWhenTheSearchHasEnded(Index index) {
        VectorTable table = index.build(orchestrator, Metric.SQUARED_L2);
        if (table instanceof MutableVectorTable mutable) {
            mutable.put(9_000, QUERIES[1]);
        }
        SearchFunction<float[], Boolean> closing = (query, context) -> {
            table.close();
            return table.registration().use().freed().isDone();
        };
        assertThat(orchestrator
                        .submit(closing, QUERIES[0], table.registration().id(0))
                        .join())
                .isFalse();
        table.close();
        assertThat(table.registration().use().freed()).isDone();
        assertThat(table.bytes()).isZero();
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aTableAtItsMemoryLimitRefusesRowsByNameAndGoesOnAnswering(Index index) {
        try (VectorTable table = index.build(orchestrator, Metric.SQUARED_L2)) {
            if (!(table instanceof MemoryLimited limited)) {
                assertThat(index).isEqualTo(Index.REMOTE);
                return;
            }
            assertThat(limited.memoryLimit()).isEqualTo(MemoryLimited.NO_MEMORY_LIMIT);
            refused("at least 1 byte, got 0", () -> limited.memoryLimit(0));
            SearchResult before = table.search(QUERIES[0], K, index.exactEffort()).join();
            if (table instanceof MutableVectorTable mutable) {
                // On disk only codes and ids take of it, and a row takes longer.
                limited.memoryLimit(table.bytes() + (index == Index.DISK ? 100_000 : 4_000_000));
                float[] far = new float[DIMENSION];
                Arrays.fill(far, 50);
                int added = 0;
                TableFullException full = null;
                while (full == null && added < 1_000_000) {
                    try {
                        mutable.put(10_000 + added, far);
                        added++;
                    } catch (TableFullException refused) {
                        full = refused;
                    }
                }
                assertThat(full).hasMessageContaining(table.name() + " is full: its memory limit is ");
                assertThat(added).isGreaterThan(1_000);
                assertThat(table.bytes()).isLessThanOrEqualTo(limited.memoryLimit());
                assertThat(table.size()).isEqualTo(ROWS + added);
                assertThat(table.search(QUERIES[0], K, index.exactEffort()).join())
                        .isEqualTo(before);
                assertThat(mutable.remove(10_000)).isTrue();
                limited.memoryLimit(Long.MAX_VALUE);
                assertThat(mutable.put(10_000, far)).isTrue();
            } else {
                limited.memoryLimit(1);
                assertThat(table.search(QUERIES[0], K, index.exactEffort()).join())
                        .isEqualTo(before);
            }
        }
        if (index != Index.DISK) {
            assertThatThrownBy(() -> index.startLimited(
                            orchestrator, Index.ids(), VectorSource.of(VECTORS), (long) ROWS * DIMENSION))
                    .isInstanceOf(TableFullException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Index.class)
    void aClosedTablesMemoryIsFreedAtOnce(Index index) throws IOException {
        Assumptions.assumeTrue(index != Index.REMOTE, "its memory is another process's");
        int rows = 30_000;
        float[][] many = new float[rows][DIMENSION * 8];
        Random random = new Random(3);
        for (float[] row : many) {
            for (int d = 0; d < row.length; d++) {
                row[d] = random.nextFloat();
            }
        }
        VectorTable table = index.startLarge(
                        orchestrator, LongStream.range(0, rows).toArray(), VectorSource.of(many))
                .join();
        long bytes = table.bytes();
        long before = residentBytes();
        table.close();
        assertThat(before - residentBytes()).isGreaterThan(bytes * 8 / 10);
    }

    private static long residentBytes() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("RssAnon:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .sum();
        }
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
        refused("one id per vector", () -> index.start(orchestrator, new long[3], VectorSource.of(VECTORS)));
        refused("got 0 twice", () -> index.start(orchestrator, new long[ROWS], VectorSource.of(VECTORS)));
    }
}
