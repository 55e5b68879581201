package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.search.FilterPlan;
import io.github.roost.io.BlockIo;
import io.github.roost.io.BlockIo.Backend;
import io.github.roost.testkit.Await;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches of a table on a real disk, with exact search beside them. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("NullAway") // what is made before all tests is there
class DiskTableTest {
    private static final int K = 10;
    private static final Rows ROWS = Rows.clustered(Metric.SQUARED_L2, 6_000, 24, 1);

    @TempDir
    private static Path folder;

    private static Path file;
    private static Orchestrator orchestrator;
    private static BlockIo io;

    @BeforeAll
    static void build() throws IOException {
        orchestrator = Orchestrator.builder().build();
        io = BlockIo.builder(orchestrator).build();
        file = folder.resolve("table");
        DiskTable.builder().build(orchestrator, io, file, ROWS.ids(), ROWS.vectors());
    }

    @AfterAll
    static void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
        assertThat(io.stats().buffersInUse()).isZero();
        io.close();
    }

    private static DiskTable open() throws IOException {
        return DiskTable.openReadOnly(orchestrator, io, "table", file);
    }

    private static double recall(DiskTable table, Rows rows, int width, int queries) throws Exception {
        double sum = 0;
        for (int i = 0; i < queries; i++) {
            float[] query = rows.query(100 + i);
            SearchResult answer = table.search(query, K, width).get();
            assertAreDistances(rows, query, answer);
            sum += Rows.recall(answer.ids(), rows.nearest(query, K, row -> true));
        }
        return sum / queries;
    }

    private static void assertAreDistances(Rows rows, float[] query, SearchResult answer) {
        float last = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < answer.size(); i++) {
            float distance = answer.distances()[i];
            assertThat(distance).isGreaterThanOrEqualTo(last);
            assertThat((double) distance).isCloseTo(rows.distance(query, Rows.row(answer.ids()[i])), within(1e-3));
            last = distance;
        }
    }

    @ParameterizedTest
    @EnumSource
    void searchesFindNearlyAllOfTheTrueNeighborsAndTheirExactDistances(DiskTable.ReadMode mode) throws Exception {
        try (DiskTable table = open()) {
            table.pageReads(8, mode);
            assertThat(recall(table, ROWS, 100, 100)).isGreaterThan(.98);
            assertThat(recall(table, ROWS, 10, 100))
                    .as("a narrow search finds less, so the width does something")
                    .isLessThan(.97);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 64})
    void howManyReadsAreUnderWayChangesTheCostAndNotTheResult(int reads) throws Exception {
        try (DiskTable table = open()) {
            table.pageReads(reads, DiskTable.ReadMode.BEAM);
            assertThat(recall(table, ROWS, 100, 30)).isGreaterThan(.98);
            SearchCost cost = table.search(ROWS.query(1), K, 100).get().cost();
            assertThat(cost.expanded()).as("all in sight at the end").isBetween(100L, 500L);
            assertThat(cost.pagesRead())
                    .as("a page is read once for all of its nodes, and these are near each other")
                    .isBetween(10L, cost.expanded() / 3);
            assertThat(cost.damagedPages()).isZero();
            assertThat(table.diskStats().stalledNanos()).isPositive();
            assertThat(table.diskStats().busyNanos()).isPositive();
        }
    }

    @Test
    void cosineIsMeasuredAsCosine() throws Exception {
        Rows rows = Rows.clustered(Metric.COSINE, 2_000, 17, 2);
        Path cosine = folder.resolve("cosine");
        DiskTable.builder()
                .metric(Metric.COSINE)
                .degree(20)
                .buildWidth(60)
                .codeBytes(5)
                .build(orchestrator, io, cosine, rows.ids(), rows.vectors());
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "cosine", cosine)) {
            assertThat(recall(table, rows, 100, 50)).isGreaterThan(.95);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 300})
    void smallTablesGiveAllThatTheyHave(int count) throws Exception {
        Rows rows = Rows.clustered(Metric.SQUARED_L2, count, 3, 3);
        Path small = folder.resolve("small" + count);
        DiskTable.builder().build(orchestrator, io, small, rows.ids(), rows.vectors());
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "small", small)) {
            assertThat(table.size()).isEqualTo(count);
            float[] query = rows.query(1);
            long[] found = table.search(query, K, 1_000).get().ids();
            assertThat(found).hasSize(Math.min(K, count)).doesNotHaveDuplicates();
            assertThat(Rows.recall(found, rows.nearest(query, K, row -> true))).isGreaterThan(.8);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 10, 1_000})
    void aFilteredSearchFindsTheNearestOfWhatIsAllowedAndNothingElse(int oneIn) throws Exception {
        try (DiskTable table = open()) {
            IdFilter filter = IdFilter.of(id -> Rows.row(id) % oneIn == 0);
            double sum = 0;
            for (int i = 0; i < 30; i++) {
                float[] query = ROWS.query(500 + i);
                SearchResult answer = table.search(
                                SearchRequest.of(query, K).effort(100).filter(filter))
                        .get();
                assertThat(Arrays.stream(answer.ids()).allMatch(id -> Rows.row(id) % oneIn == 0))
                        .isTrue();
                long[] truth = ROWS.nearest(query, K, row -> row % oneIn == 0);
                assertThat(answer.size()).isEqualTo(truth.length);
                assertThat(answer.cost().pagesRead())
                        .as("few are allowed, so the best are found by their codes")
                        .isLessThanOrEqualTo(100);
                sum += Rows.recall(answer.ids(), truth);
            }
            assertThat(sum / 30).isGreaterThan(.97);
        }
    }

    @Test
    void aFilterThatAllowsNearlyAllIsAnsweredByASearch() throws Exception {
        try (DiskTable table = open()) {
            IdFilter filter = IdFilter.of(id -> Rows.row(id) % 15 != 0);
            assertThat(FilterPlan.scans(5_600, table.size(), 5)).isFalse();
            int nearest = 0;
            for (int i = 0; i < 50; i++) {
                float[] query = ROWS.query(900 + i);
                SearchResult answer = table.search(
                                SearchRequest.of(query, 1).effort(5).filter(filter))
                        .get();
                long found = answer.ids()[0];
                assertThat(Rows.row(found) % 15).isNotZero();
                nearest += found == ROWS.nearest(query, 1, row -> row % 15 != 0)[0] ? 1 : 0;
            }
            assertThat(nearest).isGreaterThan(35);
        }
    }

    @Test
    void aFilterThatAllowsNothingFindsNothing() throws Exception {
        try (DiskTable table = open()) {
            SearchResult answer = table.search(
                            SearchRequest.of(ROWS.query(1), K).effort(100).filter(IdFilter.of(id -> false)))
                    .get();
            assertThat(answer.size()).isZero();
            assertThat(answer.cost().pagesRead()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void manySearchesAtOnceOnAnyBackendFindWhatOneFinds(Backend backend) throws Exception {
        try (BlockIo other =
                        BlockIo.builder(orchestrator).backend(backend).depth(16).build();
                DiskTable table = DiskTable.openReadOnly(orchestrator, other, "table", file)) {
            List<CompletableFuture<SearchResult>> answers = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                table.pageReads(4, i % 2 == 0 ? DiskTable.ReadMode.BEAM : DiskTable.ReadMode.PIPELINED);
                answers.add(table.search(ROWS.query(i), K, 60));
            }
            double sum = 0;
            for (int i = 0; i < answers.size(); i++) {
                sum += Rows.recall(answers.get(i).get().ids(), ROWS.nearest(ROWS.query(i), K, row -> true));
            }
            assertThat(sum / answers.size()).isGreaterThan(.95);
            assertThat(table.diskStats().searches()).isEqualTo(300);
            assertThat(other.stats().buffersInUse()).isZero();
        }
    }

    @Test
    void deadlinesAndCancellationsEndSearchesAndFreeTheirReads() throws Exception {
        try (BlockIo slow = BlockIo.builder(orchestrator)
                        .backend(Backend.POSITIONAL)
                        .threads(1)
                        .build();
                DiskTable table = DiskTable.openReadOnly(orchestrator, slow, "table", file)) {
            List<CompletableFuture<SearchResult>> answers = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                SearchRequest request = SearchRequest.of(ROWS.query(i), K).effort(100);
                answers.add(table.search(i % 2 == 0 ? request.timeout(Duration.ofMillis(2)) : request));
            }
            for (int i = 1; i < answers.size(); i += 2) {
                answers.get(i).cancel(false);
            }
            int late = 0;
            for (CompletableFuture<SearchResult> answer : answers) {
                try {
                    answer.get();
                } catch (CancellationException cancelled) {
                    assertThat(answer).isCancelled();
                } catch (ExecutionException failed) {
                    assertThat(failed.getCause()).isInstanceOf(DeadlineExceededException.class);
                    late++;
                }
            }
            assertThat(late).isPositive();
            Await.until(() -> slow.stats().inFlight() == 0 && slow.stats().buffersInUse() == 0);
        }
    }

    @Test
    void aBuildThatIsStartedTellsItsProgressAndEndsWithTheTable() throws Exception {
        Path built = folder.resolve("started");
        TableBuild<MutableDiskTable> build = DiskTable.builder()
                .degree(8)
                .start(orchestrator, io, "started", built, new long[] {5, 7}, VectorSource.of(new float[][] {{1}, {4}
                }));
        try (MutableDiskTable table = build.join()) {
            assertThat(build.progress()).isEqualTo(1);
            assertThat(table.search(new float[] {3}, 1).join().ids()).containsExactly(7);
        }
    }

    @Test
    void aSecondBuildOfAFileThatIsBeingBuiltIsRefusedAndHarmsNothing() throws Exception {
        Path built = folder.resolve("twice");
        VectorSource second = VectorSource.of(new float[][] {{3}});
        CompletableFuture<Throwable> refused = new CompletableFuture<>();
        VectorSource first = new VectorSource() {
            @Override
            public int size() {
                return 1;
            }

            @Override
            public int dimension() {
                return 1;
            }

            @Override
            public void read(int row, float[] into) {
                into[0] = 7;
                Thread.startVirtualThread(() -> {
                    try {
                        DiskTable.builder().degree(8).build(orchestrator, io, built, new long[] {2}, second);
                        refused.complete(new AssertionError("two builds of one file"));
                    } catch (Throwable failed) {
                        refused.complete(failed);
                    }
                });
                assertThat(refused.join()).isInstanceOf(IOException.class).hasMessageContaining("already");
            }
        };
        DiskTable.builder().degree(8).build(orchestrator, io, built, new long[] {1}, first);
        try (DiskTable table = DiskTable.openReadOnly(orchestrator, io, "twice", built)) {
            assertThat(table.vector(1)).containsExactly(7);
        }
    }

    @Test
    void aBuildThatIsCancelledLeavesNoFile() throws Exception {
        Path built = folder.resolve("cancelled");
        CompletableFuture<TableBuild<MutableDiskTable>> started = new CompletableFuture<>();
        VectorSource cancelling = new VectorSource() {
            @Override
            public int size() {
                return 10_000;
            }

            @Override
            public int dimension() {
                return 1;
            }

            @Override
            public void read(int row, float[] into) {
                into[0] = row;
                if (row == 5_000) {
                    assertThat(started.join().cancel()).isTrue();
                }
            }
        };
        long[] ids = LongStream.range(0, 10_000).toArray();
        started.complete(DiskTable.builder().degree(8).start(orchestrator, io, "cancelled", built, ids, cancelling));

        assertThatThrownBy(started.join()::join).isInstanceOf(CancellationException.class);
        assertThat(built).doesNotExist();
    }

    @Test
    void aTableThatIsBuiltForSearchesAloneHasNothingBesideItsFile() throws Exception {
        Path built = folder.resolve("alone");
        float[][] rows = {{1}, {2}, {4}};
        try (DiskTable table = DiskTable.builder()
                .startReadOnly(orchestrator, io, "alone", built, new long[] {7, 8, 9}, VectorSource.of(rows))
                .join()) {
            assertThat(table).isNotInstanceOf(MutableVectorTable.class);
            assertThat(table.search(new float[] {2}, 1).join().ids()).containsExactly(8);
        }

        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.filter(path -> path.getFileName().toString().contains("alone")))
                    .containsExactly(built);
        }
    }

    @Test
    void damagedPagesAreReportedAndTheirNodesNeverReturned() throws Exception {
        Path copy = folder.resolve("damaged");
        byte[] bytes = Files.readAllBytes(file);
        int pages = bytes.length / DiskLayout.PAGE_BYTES;
        DiskLayout layout = new DiskLayout(24, 32, 8);
        for (int page = 0; page < 300; page += 2) {
            bytes[(page + layout.firstFreeBlock()) * DiskLayout.PAGE_BYTES + 37 * page % 4096] ^= 4;
        }
        assertThat(pages).isGreaterThan(302);
        Files.write(copy, bytes);
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "damaged", copy)) {
            Set<Long> onDamaged = IntStream.range(0, 150)
                    .mapToObj(i -> Rows.onPage(table, 2 * i))
                    .flatMap(Set::stream)
                    .collect(Collectors.toSet());
            long damaged = 0;
            for (int i = 0; i < 50; i++) {
                SearchResult answer = table.search(ROWS.query(i), K, 100).get();
                damaged += answer.cost().damagedPages();
                assertThat(Arrays.stream(answer.ids()).noneMatch(onDamaged::contains))
                        .isTrue();
            }
            assertThat(damaged).isPositive();
            assertThat(table.diskStats().damagedPages()).isNotEmpty().allMatch(page -> page < 300 && page % 2 == 0);
            assertThatThrownBy(table::verify)
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageContaining(copy + " has a damaged page 0");
        }
        try (DiskTable whole = DiskTable.openReadOnly(orchestrator, io, "whole", file)) {
            whole.verify();
            assertThat(whole.diskStats().damagedPages()).isEmpty();
        }
    }

    @Test
    void oneSuperblockOfTwoIsEnoughAndNoneIsAClearError() throws Exception {
        Path copy = folder.resolve("roots");
        byte[] bytes = Files.readAllBytes(file);
        System.arraycopy(bytes, DiskLayout.PAGE_BYTES, bytes, 0, DiskLayout.PAGE_BYTES);
        bytes[100] ^= 1;
        Files.write(copy, bytes);
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "roots", copy)) {
            assertThat(table.size()).isEqualTo(6_000);
        }
        bytes[DiskLayout.PAGE_BYTES + 30] ^= 1;
        Files.write(copy, bytes);
        assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "roots", copy))
                .hasMessageContaining(copy + " holds no whole table: neither of its superblocks is one");
    }

    @Test
    void aFileAndACopyOfItBeginWithWhatTellsTheirFormat() throws Exception {
        Path copy = folder.resolve("copy");
        try (DiskTable table = DiskTable.openReadOnly(orchestrator, io, "table", file)) {
            table.save(copy);
        }

        assertThat(TableFormat.of(file)).contains(DiskTable.FORMAT);
        assertThat(TableFormat.of(copy)).contains(DiskTable.FORMAT);
    }

    @Test
    void whatIsNoWholeTableIsRefusedWithTheReason() throws Exception {
        byte[] bytes = Files.readAllBytes(file);
        Path copy = folder.resolve("bad");
        Files.write(copy, Arrays.copyOf(bytes, bytes.length - DiskLayout.PAGE_BYTES));
        assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "bad", copy)).hasMessageContaining("ends here");
        Files.write(copy, new byte[100]);
        assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "bad", copy)).hasMessageContaining("too short");
        DiskLayout layout = new DiskLayout(24, 32, 8);
        int rows = layout.firstFreeBlock() + layout.pages(6_000);
        Map<String, Integer> sections =
                Map.of("centroids", DiskLayout.SUPERBLOCKS, "codes", rows + 3, "map", rows + layout.rowBlocks(6_000));
        sections.forEach((what, block) -> {
            byte[] bad = bytes.clone();
            bad[block * DiskLayout.PAGE_BYTES + 50] ^= 1;
            assertThatThrownBy(() -> {
                        Files.write(copy, bad);
                        DiskTable.open(orchestrator, io, "bad", copy);
                    })
                    .hasMessageContaining("has damaged " + what + ": wrong checksum");
        });
    }

    @Test
    void aFileThatIsNotEmptyIsNotBuiltOverHoweverShortItIs() throws Exception {
        Path other = Files.writeString(folder.resolve("other"), "notes");
        assertThatThrownBy(() ->
                        DiskTable.builder().build(orchestrator, io, other, new long[] {1}, new float[][] {{1, 2}}))
                .isInstanceOf(IOException.class)
                .hasMessage(other + " is not empty: a table needs a new or an empty file");
        assertThat(other).hasContent("notes");
    }

    @Test
    void badQueriesAndOptionsAreNamed() throws Exception {
        try (DiskTable table = open()) {
            assertThatThrownBy(() -> table.search(new float[3], K, 20))
                    .hasMessage("query must have 24 dimensions, got 3");
            assertThatThrownBy(() -> table.search(ROWS.query(1), 10, 9))
                    .hasMessage("width must be between 10 and 100,000, got 9");
            assertThatThrownBy(() -> table.pageReads(65, DiskTable.ReadMode.BEAM))
                    .hasMessage("reads must be between 1 and 64, got 65");
        }
        assertThatThrownBy(() -> DiskTable.builder().metric(Metric.INNER_PRODUCT))
                .hasMessageContaining("must be SQUARED_L2 or COSINE");
        assertThatThrownBy(() -> DiskTable.builder()
                        .build(orchestrator, io, folder.resolve("wide"), new long[] {1}, new float[1][2_000]))
                .hasMessage("dimension of a table on disk with 32 neighbors per node must be at most 984, got 2000");
        assertThatThrownBy(() -> DiskTable.builder().build(orchestrator, io, file, ROWS.ids(), ROWS.vectors()))
                .hasMessageContaining("is not empty");
        assertThat(Files.size(file)).isPositive();
    }

    @Test
    void aClosedTableRefusesSearchesAndThoseAcceptedStillRun() throws Exception {
        DiskTable table = open();
        List<CompletableFuture<SearchResult>> answers = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            answers.add(table.search(ROWS.query(i), K, 100));
        }
        table.close();
        table.close();
        assertThatThrownBy(() -> table.search(ROWS.query(1), K, 100)).hasMessageContaining("table is closed");
        for (CompletableFuture<SearchResult> answer : answers) {
            assertThat(answer.get().size()).isEqualTo(K);
        }
    }

    @Test
    void aRequestIsAnsweredAsAnyTableAnswersIt() throws Exception {
        try (DiskTable table = open()) {
            float[] query = ROWS.query(7);
            SearchRequest request = SearchRequest.of(query, K).effort(200);
            SearchResult result = table.search(request).get();
            assertThat(Rows.recall(result.ids(), ROWS.nearest(query, K, row -> true)))
                    .isGreaterThan(.8);
            assertThat(result.cost().expanded()).isBetween(200L, 1_000L);
            assertThat(result.cost().visited()).isGreaterThan(result.cost().expanded());
            assertThat(result.cutShort()).isFalse();
            float fourth = result.distances()[3];
            assertThat(table.search(request.radius(fourth)).get().ids())
                    .containsExactly(Arrays.copyOf(result.ids(), 4));
            SearchResult cut = table.search(request.visitLimit(60)).get();
            assertThat(cut.cutShort()).isTrue();
            assertThat(cut.cost().visited()).isBetween(60L, 400L);
            assertThat(table.search(query, K, 200).get()).isEqualTo(result);
            assertThat(table.searchAll(List.of(request, request)).stream().map(CompletableFuture::join))
                    .hasSize(2)
                    .allMatch(same -> same.equals(result));
            assertThatThrownBy(() -> table.search(request.effort(9))).hasMessageContaining("width must be between 10");
        }
    }

    @Test
    void whatAFilterThrowsFailsItsSearch() throws Exception {
        try (DiskTable table = open()) {
            CompletableFuture<SearchResult> search =
                    table.search(SearchRequest.of(ROWS.query(1), K).filter(IdFilter.of(id -> {
                        throw new IllegalStateException("no such list");
                    })));
            assertThatThrownBy(search::get).hasRootCauseMessage("no such list");
        }
    }

    @Test
    void theEffortForARecallReachesIt() throws Exception {
        try (DiskTable table = open()) {
            float[][] sample = new float[60][];
            Arrays.setAll(sample, i -> ROWS.query(3_000 + i));
            int narrow = table.effortFor(.8, K, sample);
            int wide = table.effortFor(.99, K, sample);
            assertThat(narrow).isLessThan(wide);
            assertThat(recall(table, ROWS, wide, 100)).isGreaterThan(.97);
            SearchResult result = table.search(
                            SearchRequest.of(ROWS.query(3), K).targetRecall(.9))
                    .get();
            assertThat(result.size()).isEqualTo(K);
        }
    }

    @Test
    void rowsAreReadByIdAndACopyIsATableOfItsOwn() throws Exception {
        Path copy = folder.resolve("copy");
        try (DiskTable table = open()) {
            assertThat(table.vector(Rows.id(77))).containsExactly(ROWS.vectors()[77]);
            assertThat(table.vector(5)).isNull();
            table.save(copy);
            assertThat(table.stats().rows()).isEqualTo(6_000);
        }
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "copy", copy)) {
            assertThat(table.vector(Rows.id(5_999))).containsExactly(ROWS.vectors()[5_999]);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptedThreadReadsAndTheTableStaysInUse(Backend backend) throws Exception {
        Path mutable = folder.resolve("interrupted" + backend);
        try (BlockIo own = BlockIo.builder(orchestrator).backend(backend).build()) {
            DiskTable.builder()
                    .build(
                            orchestrator,
                            own,
                            mutable,
                            Arrays.copyOf(ROWS.ids(), 300),
                            Arrays.copyOf(ROWS.vectors(), 300));
            try (MutableDiskTable table = DiskTable.open(orchestrator, own, "interrupted", mutable)) {
                Thread.currentThread().interrupt();
                assertThat(table.vector(Rows.id(5))).isEqualTo(ROWS.vectors()[5]);
                table.verify();
                assertThat(Thread.interrupted()).as("it is still interrupted").isTrue();
                assertThat(table.vector(Rows.id(7))).isEqualTo(ROWS.vectors()[7]);
                assertThat(table.diskStats().damagedPages()).isEmpty();
                assertThat(table.put(Rows.id(400), ROWS.vectors()[400])).isTrue();
                table.checkpoint().join();
                assertThat(table.search(ROWS.vectors()[400], 1, 50).get().ids()).containsExactly(Rows.id(400));
            }
        }
    }
}
