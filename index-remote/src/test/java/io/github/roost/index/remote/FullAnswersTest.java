package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.FullAnswers;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Searches whose nearest partitions have too few rows for them. */
class FullAnswersTest {
    @TempDir
    private Path folder;

    private final Orchestrator orchestrator = Pools.orchestrator();

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private MutableRemoteTable table(float[][] rows, int partitions) throws IOException {
        return table(
                PartitionedIndex.builder().partitions(partitions),
                LongStream.range(0, rows.length).toArray(),
                rows);
    }

    private MutableRemoteTable table(PartitionedIndex index, long[] ids, float[][] rows) throws IOException {
        index.gap(1).spare(10).build(orchestrator, ids, VectorSource.of(rows), folder.resolve("pool"));
        return RemoteTable.builder().open(orchestrator, "remote", RemoteMemory.mapped(folder), "pool");
    }

    @ParameterizedTest
    @EnumSource(names = {"SQUARED_L2", "COSINE"})
    void searchesOfSmallTablesFindAsManyRowsAsThereAre(Metric metric) throws IOException {
        Random random = new Random(71);
        for (int i = 0; i < 12; i++) {
            FullAnswers.check(
                    metric,
                    random,
                    true,
                    (ids, rows) -> table(
                            PartitionedIndex.builder()
                                    .metric(metric)
                                    .visited(1)
                                    .boundary(random.nextInt(2) * .3)
                                    .partitions(Math.min(rows.length, 1 + random.nextInt(30))),
                            ids,
                            rows));
        }
    }

    @Test
    void theRowsOfAllRoundsAreMergedByDistance() throws IOException {
        float[][] rows = Pools.rows(2_000, 72);
        try (MutableRemoteTable table = table(rows, 20)) {
            SearchRequest request = SearchRequest.of(rows[0], 25).filter(IdFilter.of(id -> id % 100 == 0));
            SearchResult found = table.search(request.effort(1)).join();
            assertThat(found).isEqualTo(table.search(request.effort(20)).join());
            assertThat(found.size()).isEqualTo(20);
            assertThat(found.cost().partitions()).isEqualTo(20);
        }
    }

    @Test
    void aSearchThatFindsEnoughVisitsOnlyItsPartitions() throws IOException {
        float[][] rows = Pools.rows(1_000, 73);
        try (MutableRemoteTable table = table(rows, 10)) {
            assertThat(table.search(rows[0], 10, 2).join().cost().partitions()).isEqualTo(2);
        }
    }

    @Test
    void partitionsBeyondTheRadiusAreLeftOut() throws IOException {
        float[][] rows = Pools.rows(1_000, 81);
        for (Metric metric : List.of(Metric.SQUARED_L2, Metric.COSINE)) {
            PartitionedIndex index =
                    PartitionedIndex.builder().metric(metric).partitions(20).boundary(.2);
            try (MutableRemoteTable table =
                    table(index, LongStream.range(0, rows.length).toArray(), rows)) {
                SearchResult found = table.search(
                                SearchRequest.of(rows[3], 10).effort(1).radius(1e-3f))
                        .join();
                assertThat(found.ids()).contains(3);
                assertThat(found.cost().partitions()).isLessThan(15);
            }
        }
    }

    @Test
    void theVisitLimitHoldsForAllRoundsTogether() throws IOException {
        float[][] rows = Pools.rows(8_000, 74);
        try (MutableRemoteTable table = table(rows, 16)) {
            SearchRequest request = SearchRequest.of(rows[0], 10).effort(1).filter(IdFilter.of(id -> false));
            SearchResult found = table.search(request.visitLimit(2_000)).join();
            assertThat(found.cutShort()).isTrue();
            assertThat(found.cost().visited()).isLessThan(2_600);
            SearchResult all = table.search(request).join();
            assertThat(all.cutShort()).isFalse();
            assertThat(all.cost().partitions()).isEqualTo(16);
        }
    }

    @Test
    void aFilterThatFailsLateFailsItsSearchAlone() throws IOException {
        float[][] rows = Pools.rows(1_000, 75);
        try (MutableRemoteTable table = table(rows, 10)) {
            AtomicInteger asked = new AtomicInteger();
            SearchRequest failing = SearchRequest.of(rows[0], 10).effort(1).filter(IdFilter.of(id -> {
                if (asked.incrementAndGet() > 150) {
                    throw new IllegalStateException("of the filter");
                }
                return false;
            }));
            SearchRequest other = failing.filter(IdFilter.of(id -> id % 50 == 0));
            List<CompletableFuture<SearchResult>> answers = table.searchAll(List.of(failing, other));
            assertThatThrownBy(answers.getFirst()::join)
                    .isInstanceOf(CompletionException.class)
                    .hasRootCauseMessage("of the filter");
            assertThat(answers.get(1).join().size()).isEqualTo(10);
        }
    }

    /** One partition, so they are searched for as a group; one that shares its filter with another is part of a scan. */
    @Test
    void ofAGroupOnlyTheSearchesWithTheFailingFilterFail() throws IOException {
        float[][] rows = Pools.rows(400, 83);
        try (MutableRemoteTable table = table(rows, 1)) {
            IdFilter broken = IdFilter.of(id -> {
                throw new IllegalStateException("of the filter");
            });
            SearchRequest right = SearchRequest.of(rows[0], 10).filter(IdFilter.of(id -> id % 3 == 0));
            SearchRequest failing = right.filter(broken);
            List<SearchRequest> alone = List.of(right, failing, right);
            List<SearchRequest> scanned = new ArrayList<>(Collections.nCopies(60, failing));
            scanned.addAll(Collections.nCopies(60, right));
            for (List<SearchRequest> requests : List.of(alone, scanned)) {
                for (int round = 0; round < 30; round++) {
                    List<CompletableFuture<SearchResult>> answers = table.searchAll(requests);
                    for (int i = 0; i < answers.size(); i++) {
                        CompletableFuture<SearchResult> answer = answers.get(i);
                        if (requests.get(i) == failing) {
                            assertThatThrownBy(answer::join).hasRootCauseMessage("of the filter");
                        } else {
                            assertThat(answer.join().size()).isEqualTo(10);
                        }
                    }
                }
            }
        }
    }

    @Test
    void aCancelledSearchLooksNoFurther() throws IOException {
        float[][] rows = Pools.rows(1_000, 76);
        try (MutableRemoteTable table = table(rows, 10)) {
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
            assertThat(table.search(rows[0], 1_000, 1).join().size()).isEqualTo(1_000);
            assertThat(asked.get()).isLessThan(300);
        }
    }

    @Test
    void rowsThatStayAreAllFoundWhileOthersChange() throws IOException {
        float[][] rows = Pools.rows(400, 77);
        try (MutableRemoteTable table = table(rows, 8)) {
            CompletableFuture<Void> changes = CompletableFuture.runAsync(() -> {
                Random random = new Random(78);
                for (int i = 0; i < 1_500; i++) {
                    long id = 10_000L + random.nextInt(50);
                    if (random.nextInt(3) == 0) {
                        table.remove(id);
                    } else {
                        table.put(id, rows[random.nextInt(rows.length)]);
                    }
                }
            });
            SearchRequest request = SearchRequest.of(rows[0], 400).effort(1).filter(IdFilter.of(id -> id < 400));
            while (!changes.isDone()) {
                SearchResult found = table.search(request).join();
                assertThat(found.cutShort() || found.size() == 400).isTrue();
            }
            changes.join();
        }
    }

    @Test
    void searchesForMoreRowsVisitMorePartitionsByDefault() throws IOException {
        float[][] rows = Pools.rows(4_000, 79);
        float[][] queries = Pools.rows(50, 80);
        try (MutableRemoteTable table = table(rows, 80)) {
            for (int k : new int[] {10, 100, 600}) {
                long found = 0;
                for (float[] query : queries) {
                    long[] near = table.search(query, k, 80).join().ids();
                    found += Arrays.stream(table.search(query, k).join().ids())
                            .filter(id -> Arrays.stream(near).anyMatch(other -> other == id))
                            .count();
                }
                assertThat((double) found / queries.length / k).as("k %d", k).isGreaterThan(.92);
            }
        }
    }
}
