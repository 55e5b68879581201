package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.FullAnswers;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Searches whose nearest lists have too few rows for them. */
class FullAnswersTest {
    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .build();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    @Test
    void ofEqualRowsTenAreFoundFromAnywhere() {
        float[][] rows = new float[100][];
        Arrays.setAll(rows, i -> new float[] {3, 4, 0});
        for (Metric metric : Metric.values()) {
            try (IvfTable table = IvfTable.builder().metric(metric).build(orchestrator, rows)) {
                assertThat(table.search(new float[] {-3, -4, 0}, 10).join().ids())
                        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void searchesOfSmallTablesFindAsManyRowsAsThereAre(Kept kept) throws IOException {
        Random random = new Random(61);
        for (int table = 0; table < 12; table++) {
            for (Metric metric : Metric.values()) {
                FullAnswers.check(
                        metric,
                        random,
                        kept == Kept.FLOATS || kept == Kept.CODED_FLOATS,
                        (ids, rows) -> kept.builder().metric(metric).build(orchestrator, ids, rows));
            }
        }
    }

    @Test
    void aSearchOfItsOwnThreadLooksFurtherToo() throws Exception {
        float[][] rows = gaussian(500, 8, new Random(62));
        try (IvfTable table = IvfTable.builder().nlist(25).build(orchestrator, rows)) {
            SearchResult found = orchestrator
                    .submit(
                            table.searchFunction(400, 1),
                            rows[0],
                            table.registration().id(0))
                    .get();
            assertThat(found.size()).isEqualTo(400);
        }
    }

    /** Two regions; the filter allows the other. */
    @Test
    void theRowsOfAllRoundsAreMergedByDistance() {
        float[][] rows = regions(2_000);
        float[] at = new float[8];
        Arrays.fill(at, 20);
        try (IvfTable table = IvfTable.builder().nlist(40).build(orchestrator, rows)) {
            SearchRequest all = SearchRequest.of(at, 30).filter(IdFilter.of(id -> id >= 1_000 && id % 20 == 0));
            SearchResult found = table.search(all.effort(1)).join();
            assertThat(found.size()).isEqualTo(30);
            assertThat(found.distances()).isSorted();
            assertThat(LongStream.of(found.ids())).allMatch(id -> id >= 1_000 && id % 20 == 0);
        }
    }

    @Test
    void aSearchThatFindsEnoughScansOnlyItsLists() {
        float[][] rows = gaussian(1_000, 8, new Random(63));
        try (IvfTable table = IvfTable.builder().nlist(25).build(orchestrator, rows)) {
            SearchResult found = table.search(rows[0], 10, 3).join();
            assertThat(found.cost().expanded()).isEqualTo(3);
        }
    }

    /** With one list at a time there would be 40 rounds. */
    @Test
    void aSelectiveFilterIsAskedOncePerRow() {
        float[][] rows = gaussian(2_000, 8, new Random(64));
        try (IvfTable table = IvfTable.builder().nlist(40).codes(false).build(orchestrator, rows)) {
            AtomicInteger asked = new AtomicInteger();
            SearchResult found = table.search(
                            SearchRequest.of(rows[0], 10).effort(1).filter(IdFilter.of(id -> {
                                asked.incrementAndGet();
                                return id % 1_000 == 0;
                            })))
                    .join();
            assertThat(found.ids()).containsExactlyInAnyOrder(0, 1_000);
            assertThat(found.cost().expanded()).isEqualTo(40);
            assertThat(asked.get()).isEqualTo(2_000);
        }
    }

    @Test
    void listsBeyondTheRadiusAreLeftOut() {
        float[][] rows = regions(2_000);
        for (Metric metric : List.of(Metric.SQUARED_L2, Metric.COSINE)) {
            try (IvfTable table = IvfTable.builder().metric(metric).nlist(40).build(orchestrator, rows)) {
                SearchResult found = table.search(
                                SearchRequest.of(rows[3], 10).effort(1).radius(1e-3f))
                        .join();
                assertThat(found.ids()).contains(3);
                assertThat(found.cost().expanded()).isLessThan(21);
            }
        }
    }

    @Test
    void theVisitLimitHoldsForAllRoundsTogether() {
        float[][] rows = regions(2_000);
        try (IvfTable table = IvfTable.builder().nlist(40).codes(false).build(orchestrator, rows)) {
            SearchRequest request = SearchRequest.of(rows[0], 900).effort(1);
            for (int limit : new int[] {1, 100, 400, 800}) {
                SearchResult found = table.search(request.visitLimit(limit)).join();
                assertThat(found.cutShort()).isTrue();
                assertThat(found.cost().visited()).isBetween((long) limit, limit + 250L);
            }
            assertThat(table.search(request.visitLimit(10_000)).join().cutShort())
                    .isFalse();
        }
    }

    @Test
    void aFilterThatFailsLateFailsItsSearchAlone() {
        float[][] rows = regions(2_000);
        try (IvfTable table = IvfTable.builder().nlist(40).build(orchestrator, rows)) {
            SearchRequest failing = SearchRequest.of(rows[0], 10).effort(1).filter(IdFilter.of(id -> {
                if (id >= 1_000) {
                    throw new IllegalStateException("of the filter");
                }
                return false;
            }));
            SearchRequest other = failing.filter(IdFilter.of(id -> id >= 1_000));
            List<CompletableFuture<SearchResult>> answers = table.searchAll(List.of(failing, other, failing));
            assertThatThrownBy(answers.getFirst()::join)
                    .isInstanceOf(CompletionException.class)
                    .hasRootCauseMessage("of the filter");
            assertThat(answers.get(1).join().size()).isEqualTo(10);
        }
    }

    @Test
    void aCancelledOrLateSearchLooksNoFurther() throws Exception {
        float[][] rows = regions(2_000);
        try (IvfTable table = IvfTable.builder().nlist(40).codes(false).build(orchestrator, rows)) {
            CompletableFuture<CompletableFuture<SearchResult>> submitted = new CompletableFuture<>();
            AtomicInteger asked = new AtomicInteger();
            CompletableFuture<SearchResult> own =
                    table.search(SearchRequest.of(rows[0], 10).effort(1).filter(IdFilter.of(id -> {
                        submitted.join().cancel(false);
                        asked.incrementAndGet();
                        return false;
                    })));
            submitted.complete(own);
            assertThatThrownBy(own::join).isInstanceOf(CancellationException.class);
            orchestrator.indexing().quiesce().toCompletableFuture().get();
            assertThat(asked.get()).isLessThan(500);
            assertThatThrownBy(table.search(SearchRequest.of(rows[0], 10)
                            .effort(1)
                            .timeout(Duration.ofMillis(1))
                            .filter(IdFilter.of(id -> {
                                long until = System.nanoTime() + 100_000;
                                while (System.nanoTime() < until) {
                                    Thread.onSpinWait();
                                }
                                return false;
                            })))::join)
                    .hasRootCauseInstanceOf(DeadlineExceededException.class);
        }
    }

    /** While rows come, go and move, and the lists are trained again. */
    @Test
    void rowsThatStayAreAllFoundWhileOthersChange() {
        float[][] rows = regions(600);
        long[] ids = LongStream.range(0, rows.length).toArray();
        try (IvfTable table = IvfTable.builder().nlist(30).build(orchestrator, ids, rows)) {
            CompletableFuture<Void> changes = CompletableFuture.runAsync(() -> {
                Random random = new Random(65);
                for (int i = 0; i < 4_000; i++) {
                    long id = 10_000L + random.nextInt(50);
                    if (random.nextInt(3) == 0) {
                        table.remove(id);
                    } else {
                        table.put(id, rows[random.nextInt(rows.length)]);
                    }
                    if (i % 1_000 == 500) {
                        table.rebuild().join();
                    }
                }
            });
            SearchRequest request = SearchRequest.of(rows[0], 600).effort(1).filter(IdFilter.of(id -> id < 600));
            while (!changes.isDone()) {
                assertThat(table.search(request).join().size()).isEqualTo(600);
            }
            changes.join();
        }
    }

    @Test
    void searchesForMoreRowsProbeMoreListsByDefault() {
        float[][] rows = gaussian(3_000, 12, new Random(66));
        float[][] queries = gaussian(30, 12, new Random(67));
        try (IvfTable table = IvfTable.builder().build(orchestrator, rows)) {
            for (int k : new int[] {10, 100, 600}) {
                long found = IntStream.range(0, queries.length)
                        .mapToLong(i -> {
                            long[] near = table.search(queries[i], k, table.nlist())
                                    .join()
                                    .ids();
                            long[] own = table.search(queries[i], k).join().ids();
                            return Arrays.stream(own)
                                    .filter(id -> Arrays.stream(near).anyMatch(other -> other == id))
                                    .count();
                        })
                        .sum();
                assertThat((double) found / queries.length / k).as("k %d", k).isGreaterThan(.92);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"CODED_FLOATS", "BOTH"})
    void listsAreTrainedAgainWhenTheirRowsAreOthers(Kept kept) {
        float[][] rows = regions(1_200);
        long[] ids = LongStream.range(0, rows.length).toArray();
        try (IvfTable table = kept.builder().build(orchestrator, Arrays.copyOf(ids, 600), Arrays.copyOf(rows, 600))) {
            double before = table.imbalance();
            for (int row = 600; row < 1_200; row++) {
                table.put(ids[row], rows[row]);
                table.remove(ids[row - 600]);
            }
            int found = 0;
            for (int i = 0; i < 100_000 && (found < 100 || table.imbalance() > 2 * before); i++) {
                table.put(600, rows[600]);
                found = (int) IntStream.range(600, 700)
                        .filter(row -> table.search(rows[row], 1).join().ids()[0] == row)
                        .count();
            }
            assertThat(found).isEqualTo(100);
            assertThat(table.imbalance()).isLessThanOrEqualTo(2 * before);
        }
    }

    /** Around two points, half of the rows each. */
    private static float[][] regions(int count) {
        float[][] rows = gaussian(count, 8, new Random(60));
        for (int row = 0; row < count; row++) {
            for (int d = 0; d < 8; d++) {
                rows[row][d] += row < count / 2 ? 20 : d % 2 * 40 - 20;
            }
        }
        return rows;
    }
}
