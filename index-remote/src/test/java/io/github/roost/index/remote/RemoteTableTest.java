package io.github.roost.index.remote;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.TableClosedException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteTableTest {
    private static final int ROWS = 6_000;
    private static final int PARTITIONS = 21;
    private static final int K = 10;
    private static final String POOL = "rows.pool";

    @TempDir
    private static Path folder;

    private static Orchestrator orchestrator;
    private static float[][] rows;
    private static float[][] queries;
    private static PartitionedIndex.Pool pool;

    private final FaultyMemory memory = new FaultyMemory(RemoteMemory.mapped(folder));

    @BeforeAll
    static void build() throws IOException {
        orchestrator = Pools.orchestrator();
        rows = Pools.rows(ROWS, 1);
        queries = Pools.rows(200, 2);
        pool = Pools.build(orchestrator, PartitionedIndex.builder().partitions(PARTITIONS), rows, folder.resolve(POOL));
    }

    @AfterAll
    static void close() {
        orchestrator.close();
    }

    private RemoteTable open(RemoteTable.Builder options) throws IOException {
        RemoteTable table = options.open(orchestrator, "remote", memory, POOL);
        memory.count();
        return table;
    }

    private static List<SearchRequest> batch(int visited) {
        return Arrays.stream(queries)
                .map(query -> SearchRequest.of(query, K).effort(visited))
                .toList();
    }

    private static Set<Integer> union(RemoteTable table, int visited) {
        Set<Integer> union = new HashSet<>();
        for (float[] query : queries) {
            IntStream.of(table.partitionsOf(query, visited)).forEach(union::add);
        }
        return union;
    }

    private static double recall(SearchResult found, SearchResult truth) {
        return IntStream.range(0, found.size())
                        .filter(i -> found.distances()[i] <= truth.distances()[K - 1] * 1.000001f)
                        .count()
                / (double) K;
    }

    @Test
    void partitionsAreBalancedAndTogetherHaveEachRow() throws IOException {
        try (RemoteTable table = open(RemoteTable.builder())) {
            assertThat(table.size()).isEqualTo(ROWS);
            assertThat(pool.rows()).isEqualTo(ROWS);
            assertThat(pool.partitions()).isEqualTo(PARTITIONS);
            for (int row = 0; row < ROWS; row += 97) {
                assertThat(table.vector(2L * row)).isEqualTo(rows[row]);
            }
            assertThat(table.vector(1)).isNull();
            long mean = Pools.partitionBytes(folder.resolve(POOL)) / PARTITIONS;
            assertThat(pool.largestBytes()).isLessThan((long) (1.15 * mean));
        }
    }

    @Test
    void aSearchOfAllPartitionsFindsNearlyAllAndOneOfFewMost() throws IOException {
        try (RemoteTable table = open(RemoteTable.builder().ef(200))) {
            double all = 0;
            double few = 0;
            for (float[] query : queries) {
                SearchResult truth = Pools.exact(rows, query, K, Metric.SQUARED_L2);
                all += recall(table.search(query, K, PARTITIONS).join(), truth);
                few += recall(table.search(query, K, 5).join(), truth);
            }
            assertThat(all / queries.length).isGreaterThan(.995);
            assertThat(few / queries.length).isBetween(.9, all / queries.length);
        }
    }

    @Test
    void queriesThatAreServedTogetherFindWhatSortingFinds() throws Exception {
        IdFilter fourths = IdFilter.of(id -> id % 4 == 0);
        List<SearchRequest> requests = new ArrayList<>();
        for (int i = 0; i < queries.length; i++) {
            SearchRequest request = SearchRequest.of(queries[i], K).effort(PARTITIONS);
            requests.add(i % 2 == 0 ? request : request.filter(fourths));
        }
        try (RemoteTable table = open(RemoteTable.builder())) {
            List<CompletableFuture<SearchResult>> answers = table.searchAll(requests);
            for (int i = 0; i < queries.length; i++) {
                SearchResult found = answers.get(i).join();
                // Ids are twice the row's number: of those that the filter allows, every second row.
                int allowed = i % 2;
                long[] expected = LongStream.of(Pools.exact(rows, queries[i], 8 * K, Metric.SQUARED_L2)
                                .ids())
                        .filter(id -> allowed == 0 || fourths.allows(id))
                        .limit(K)
                        .toArray();
                assertThat(found.ids()).describedAs("query %d", i).isEqualTo(expected);
            }
        }
    }

    /** Centroids that were trained with the sample would be near it: of other queries they would find less. */
    @Tag("stress")
    @Test
    void rowsOfTheTableTellABuildAsMuchAsOtherQueriesDo() throws IOException {
        Random random = new Random(11);
        float[][] noise = noise(6_000, random);
        PartitionedIndex index = PartitionedIndex.builder()
                .partitions(100)
                .efConstruction(20)
                .m(4)
                .targetRecall(.6);
        PartitionedIndex.Pool byRows = Pools.build(orchestrator, index, noise, folder.resolve("rows"));
        PartitionedIndex.Pool byQueries =
                Pools.build(orchestrator, index.queries(noise(1_000, random)), noise, folder.resolve("queries"));
        assertThat((double) byRows.visited() / byQueries.visited()).isBetween(.9, 1.1);
    }

    private static float[][] noise(int count, Random random) {
        return gaussian(count, 48, random);
    }

    @Test
    void aBuildMeasuresHowManyPartitionsReachTheRecall() throws IOException {
        assertThat(pool.recall()).isGreaterThanOrEqualTo(.95);
        try (RemoteTable table = open(RemoteTable.builder())) {
            assertThat(table.visitedByDefault()).isEqualTo(pool.visited());
            double found = 0;
            for (float[] query : queries) {
                SearchResult truth = Pools.exact(rows, query, K, Metric.SQUARED_L2);
                found += recall(table.search(query, K).join(), truth);
            }
            // These queries are others than the sample.
            assertThat(found / queries.length).isGreaterThan(.94);
        }
        float[][] fewRows = Arrays.copyOf(rows, 2_000);
        PartitionedIndex index =
                PartitionedIndex.builder().partitions(PARTITIONS).queries(queries);
        PartitionedIndex.Pool half = Pools.build(orchestrator, index.targetRecall(.5), fewRows, folder.resolve("half"));
        PartitionedIndex.Pool all = Pools.build(orchestrator, index.targetRecall(1), fewRows, folder.resolve("all"));
        assertThat(half.recall()).isBetween(.5, .999);
        assertThat(all.recall()).isEqualTo(1);
        assertThat(half.visited()).isLessThan(all.visited());
        PartitionedIndex.Pool said = Pools.build(orchestrator, index.visited(7), fewRows, folder.resolve("said"));
        assertThat(said.visited()).isEqualTo(7);
        assertThat(said.recall()).isNaN();
    }

    @Test
    void aBatchReadsEachPartitionOfItsUnionOnce() throws Exception {
        try (RemoteTable table = open(RemoteTable.builder())) {
            Set<Integer> union = union(table, 3);
            memory.hold();
            List<CompletableFuture<SearchResult>> answers = table.searchAll(batch(3));
            awaitParked(union.size());
            memory.letGo();
            for (int i = 0; i < queries.length; i++) {
                assertThat(answers.get(i).join().size()).isEqualTo(K);
            }
            assertThat(memory.partitionReads.get()).isEqualTo(union.size());
            assertThat(table.remoteStats().reads()).isEqualTo(union.size());
            assertThat(table.remoteStats().doorbells()).isLessThan(union.size());
            // What is in the cache is not read again.
            table.searchAll(batch(3)).forEach(CompletableFuture::join);
            assertThat(memory.partitionReads.get()).isEqualTo(union.size());
            assertThat(table.remoteStats().hits()).isGreaterThanOrEqualTo(union.size());
        }
    }

    /** Waits until nothing waits for a worker and so many groups of queries wait for their partitions. */
    private void awaitParked(int groups) {
        while (orchestrator.stats().domains().stream().anyMatch(domain -> domain.waiting() > 0)
                || orchestrator.stats().domains().stream()
                                .mapToInt(OrchestratorStats.DomainStats::parked)
                                .sum()
                        < groups) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aBatchLargerThanTheCacheStreamsAndStillReadsEachPartitionOnce() throws Exception {
        long room = 3 * (pool.largestBytes() + (pool.largestBytes() / 4));
        try (RemoteTable table = open(RemoteTable.builder().cacheBytes(room));
                RemoteTable large = open(RemoteTable.builder())) {
            Set<Integer> union = union(table, 4);
            List<CompletableFuture<SearchResult>> answers = table.searchAll(batch(4));
            for (int i = 0; i < queries.length; i++) {
                assertThat(answers.get(i).join())
                        .isEqualTo(large.search(queries[i], K, 4).join());
            }
            RemoteTable.Stats stats = table.remoteStats();
            assertThat(stats.reads()).isEqualTo(union.size());
            assertThat(stats.evictions()).isGreaterThan(union.size() / 2);
            assertThat(stats.cachedBytes()).isLessThanOrEqualTo(room);
        }
    }

    @Test
    void answersAreThoseOfOthersWithTheSameOptions() throws Exception {
        try (RemoteTable table = open(RemoteTable.builder())) {
            for (int i = 0; i < 20; i++) {
                SearchResult found = table.search(queries[i], K, 4).join();
                SearchResult filtered = table.search(SearchRequest.of(queries[i], K)
                                .effort(4)
                                .filter(IdFilter.of(id -> id % 4 == 0))
                                .radius(found.distances()[K - 1]))
                        .join();
                assertThat(filtered.ids())
                        .isEqualTo(Arrays.stream(found.ids())
                                .filter(id -> id % 4 == 0)
                                .toArray());
            }
        }
    }

    @Test
    void searchesThatHaveBegunGiveTheirAnswersWhereLaterOnesOfTheBatchAreRefused() throws Exception {
        SteppedMemory stepped = new SteppedMemory(RemoteMemory.mapped(folder));
        RemoteTable table = RemoteTable.builder().open(orchestrator, "stepped", stepped, POOL);
        SearchRequest request = SearchRequest.of(queries[0], K).effort(2);
        Thread here = Thread.currentThread();
        // A request for a recall asks how many rows there are: the table is closed then.
        stepped.beforeEachRead(transfers -> {
            if (Thread.currentThread() == here && transfers.getFirst().offset() == PoolHead.ROWS_AT) {
                table.close();
            }
            return CompletableFuture.completedFuture(null);
        });
        List<CompletableFuture<SearchResult>> answers = table.searchAll(List.of(
                request,
                SearchRequest.of(queries[1], K).targetRecall(.9),
                request.timeout(Duration.ofMinutes(1)),
                request));
        assertThat(answers.get(0).join().size()).isEqualTo(K);
        assertThat(answers.get(3).join().size()).isEqualTo(K);
        assertThatThrownBy(() -> answers.get(2).join()).hasCauseInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> table.searchAll(List.of(request))).isInstanceOf(TableClosedException.class);
    }

    @Test
    void bytesThatAreFlippedOnTheirWayAreReadAgainAndNeverSearched() throws Exception {
        try (RemoteTable table = open(RemoteTable.builder());
                RemoteTable clean = open(RemoteTable.builder())) {
            memory.toFlip.set(1);
            SearchResult found = table.search(queries[0], K, 1).join();
            assertThat(table.remoteStats().damaged()).isEqualTo(1);
            assertThat(table.remoteStats().reads()).isEqualTo(2);
            assertThat(found).isEqualTo(clean.search(queries[0], K, 1).join());
            // Bytes that are wrong in the pool are wrong each time.
            memory.toFlip.set(Long.MAX_VALUE);
            int other = IntStream.range(0, queries.length)
                    .filter(i -> table.partitionsOf(queries[i], 1)[0] != table.partitionsOf(queries[0], 1)[0])
                    .findFirst()
                    .orElseThrow();
            assertThatThrownBy(() -> table.search(queries[other], K, 1).join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(RemoteMemoryException.DamagedPartitionException.class)
                    .hasMessageContaining("damaged partition " + table.partitionsOf(queries[other], 1)[0]);
            assertThatThrownBy(table::verify).isInstanceOf(RemoteMemoryException.DamagedPartitionException.class);
            memory.toFlip.set(0);
            assertThat(table.search(queries[other], K, 1).join().size()).isEqualTo(K);
            table.verify();
        }
    }

    @Test
    void whatCannotBeReadFailsByNameOrIsMissingFromAPartialAnswer() throws Exception {
        try (RemoteTable strict = open(RemoteTable.builder());
                RemoteTable partial = open(RemoteTable.builder().partialAnswers(true))) {
            int cached = partial.partitionsOf(queries[0], 2)[0];
            partial.search(queries[0], K, 1).join();
            memory.fail(true);
            assertThatThrownBy(() -> strict.search(queries[0], K, 2).join())
                    .hasCauseInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("is unplugged");
            SearchResult answer = partial.search(queries[0], K, 2).join();
            assertThatThrownBy(() -> partial.effortFor(.9, K, queries))
                    .hasRootCauseInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("could not be read in ");
            assertThat(answer.cost().missingPartitions()).isEqualTo(1);
            assertThat(answer.cost().partitions()).isEqualTo(2);
            assertThat(answer.cutShort()).isTrue();
            assertThat(answer.size()).isEqualTo(K);
            assertThat(partial.partitionsOf(queries[0], 1)).containsExactly(cached);
            assertThat(partial.remoteStats().partial()).isPositive();
            memory.fail(false);
            assertThat(strict.search(queries[0], K, 2).join().size()).isEqualTo(K);
            assertThat(answer).isEqualTo(strict.search(queries[0], K, 1).join());
        }
    }

    @Test
    void aPartialAnswerIsOfWhatTheCacheHasWhereNothingCanBeRead() throws Exception {
        SteppedMemory stepped = new SteppedMemory(RemoteMemory.mapped(folder));
        try (RemoteTable table = RemoteTable.builder().partialAnswers(true).open(orchestrator, "cut", stepped, POOL)) {
            List<SearchResult> whole = new ArrayList<>();
            for (SearchRequest request : batch(1)) {
                whole.add(table.search(request).join());
            }
            stepped.beforeEachRead(
                    transfers -> CompletableFuture.failedFuture(new RemoteMemoryException(POOL, "is unplugged")));
            List<CompletableFuture<SearchResult>> answers = table.searchAll(batch(1));
            for (int i = 0; i < whole.size(); i++) {
                SearchResult answer = answers.get(i).join();
                assertThat(answer).isEqualTo(whole.get(i));
                assertThat(answer.cutShort()).isTrue();
            }
            SearchResult answer = table.search(batch(3).getFirst()).join();
            assertThat(answer.cost().missingPartitions()).isEqualTo(3);
            stepped.beforeEachRead(transfers -> CompletableFuture.completedFuture(null));
            assertThat(table.search(batch(3).getFirst()).join().cost().missingPartitions())
                    .isZero();
        }
    }

    @Test
    void aPartitionIsSearchedWhileTheNextIsFetchedAndAnsweredBeforeTheLastHasArrived() throws Exception {
        int[] first = firstOfThreePartitions();
        SteppedMemory stepped = new SteppedMemory(RemoteMemory.mapped(folder));
        CountDownLatch nextIsAskedFor = new CountDownLatch(1);
        CompletableFuture<Void> isSearching = new CompletableFuture<>();
        CompletableFuture<Void> isAnswered = new CompletableFuture<>();
        List<CompletableFuture<?>> gates = List.of(CompletableFuture.completedFuture(null), isSearching, isAnswered);
        AtomicInteger requested = new AtomicInteger();
        try (RemoteTable table = RemoteTable.builder().readsPerDoorbell(1).open(orchestrator, "piped", stepped, POOL)) {
            stepped.beforeEachRead(transfers -> {
                if (transfers.getFirst().local().byteSize() <= 4_096) {
                    return CompletableFuture.completedFuture(null);
                }
                int number = requested.getAndIncrement();
                if (number == 1) {
                    nextIsAskedFor.countDown();
                }
                return gates.get(number);
            });
            // Asked during the search of the partition that arrives first: no other arrives before it has been
            // searched.
            IdFilter filter = IdFilter.of(id -> {
                isSearching.complete(null);
                return await(nextIsAskedFor);
            });
            List<CompletableFuture<SearchResult>> answers = table.searchAll(IntStream.of(first)
                    .mapToObj(query ->
                            SearchRequest.of(queries[query], K).effort(1).filter(filter))
                    .toList());
            CompletableFuture.anyOf(answers.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
            assertThat(answers.stream().filter(CompletableFuture::isDone).count())
                    .isLessThan(3);
            assertThat(isAnswered.isDone()).isFalse();
            isAnswered.complete(null);
            for (CompletableFuture<SearchResult> answer : answers) {
                assertThat(answer.get(20, TimeUnit.SECONDS).size()).isEqualTo(K);
            }
            assertThat(requested).hasValue(3);
        } finally {
            isSearching.complete(null);
            isAnswered.complete(null);
        }
    }

    /** Whether something happens within the time of a test. */
    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void aTransferThatHangsEndsAtTheSearchsDeadlineOrItsOwn() throws Exception {
        try (RemoteTable table = open(RemoteTable.builder().transferTimeout(Duration.ofMillis(300)))) {
            memory.hold();
            SearchRequest request = SearchRequest.of(queries[0], K).effort(2);
            assertThatThrownBy(() ->
                            table.search(request.timeout(Duration.ofMillis(20))).join())
                    .hasCauseInstanceOf(DeadlineExceededException.class);
            assertThatThrownBy(() -> table.search(request).join())
                    .hasCauseInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("does not answer");
            memory.letGo();
            assertThat(table.search(request).join().size()).isEqualTo(K);
        }
    }

    @Test
    void memoryOfReadsThatAreGivenUpCountsUntilTheProviderHasEndedThem() throws Exception {
        Directory directory = Pools.directory(folder.resolve(POOL));
        int[] first = firstOfThreePartitions();
        long room = 2 * (pool.largestBytes() + directory.gapOf(0).bytes() * 5 / 4);
        try (RemoteTable table = open(RemoteTable.builder().cacheBytes(room).transferTimeout(Duration.ofMillis(100)))) {
            memory.hold();
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(searchOf(table, queries[first[i]])).hasMessageContaining("does not answer");
            }
            assertThat(table.stats().bytes()).isBetween(room / 2, room);
            assertThatThrownBy(searchOf(table, queries[first[2]]))
                    .hasCauseInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("reads that were given up may still write to "
                            + table.stats().bytes() + " of the cache's " + room);
            memory.letGo();
            assertThat(table.stats().bytes()).isZero();
            table.search(queries[first[2]], K, 1).join();
            // A provider that has ended a read writes no more, also where the read has failed.
            memory.fail(true);
            long before = table.stats().bytes();
            assertThatThrownBy(searchOf(table, queries[first[0]])).hasMessageContaining("is unplugged");
            assertThat(table.stats().bytes()).isEqualTo(before);
            memory.fail(false);
        }
    }

    @Test
    void memoryOfReadsThatTheProviderNeverEndsIsFreedWithTheRegion() throws Exception {
        RemoteTable table = open(RemoteTable.builder().transferTimeout(Duration.ofMillis(100)));
        memory.hold();
        assertThatThrownBy(searchOf(table, queries[0])).hasMessageContaining("does not answer");
        assertThat(table.stats().bytes()).isPositive();
        table.close();
        assertThat(table.stats().bytes()).isZero();
    }

    /** Queries that visit three partitions, each another one first. */
    private int[] firstOfThreePartitions() throws IOException {
        try (RemoteTable table = open(RemoteTable.builder())) {
            Map<Integer, Integer> byPartition = new TreeMap<>();
            for (int i = 0; i < queries.length; i++) {
                byPartition.putIfAbsent(table.partitionsOf(queries[i], 1)[0], i);
            }
            return byPartition.values().stream().limit(3).mapToInt(i -> i).toArray();
        }
    }

    private static ThrowableAssert.ThrowingCallable searchOf(RemoteTable table, float[] query) {
        return () -> table.search(query, K, 1).join();
    }

    @Tag("stress")
    @Test
    void manySingleSearchesOfASmallCacheAllEndRightly() throws Exception {
        long room = 2 * (pool.largestBytes() + (pool.largestBytes() / 4));
        try (RemoteTable table = open(RemoteTable.builder().cacheBytes(room));
                RemoteTable large = open(RemoteTable.builder())) {
            List<CompletableFuture<SearchResult>> answers = new ArrayList<>();
            for (int i = 0; i < Effort.times(300); i++) {
                SearchRequest request =
                        SearchRequest.of(queries[i % queries.length], K).effort(3);
                CompletableFuture<SearchResult> answer =
                        table.search(i % 5 == 0 ? request.timeout(Duration.ofNanos(1)) : request);
                if (i % 7 == 0) {
                    answer.cancel(false);
                }
                answers.add(answer);
            }
            for (int i = 0; i < answers.size(); i++) {
                CompletableFuture<SearchResult> answer = answers.get(i);
                if (i % 5 != 0 && i % 7 != 0) {
                    assertThat(answer.join())
                            .isEqualTo(large.search(queries[i % queries.length], K, 3)
                                    .join());
                }
            }
            assertThat(table.remoteStats().cachedBytes()).isLessThanOrEqualTo(room);
        }
    }

    @Test
    void boundaryRowsAreFoundOnceAndRaiseTheRecallOfOnePartition() throws Exception {
        Path file = folder.resolve("boundary.pool");
        Pools.build(
                orchestrator, PartitionedIndex.builder().partitions(PARTITIONS).boundary(.3), rows, file);
        try (RemoteTable plain = open(RemoteTable.builder());
                RemoteTable copied = RemoteTable.builder().open(orchestrator, "copied", memory, "boundary.pool")) {
            assertThat(copied.size()).isEqualTo(ROWS);
            double without = 0;
            double with = 0;
            for (float[] query : queries) {
                SearchResult truth = Pools.exact(rows, query, K, Metric.SQUARED_L2);
                without += recall(plain.search(query, K, 1).join(), truth);
                with += recall(copied.search(query, K, 1).join(), truth);
                long[] ids = copied.search(query, K, 6).join().ids();
                assertThat(Arrays.stream(ids).distinct().count()).isEqualTo(K);
            }
            assertThat(with).isGreaterThan(without);
        }
    }

    @Test
    void cosineTablesFindByAngleAlsoWithPartitionsThatAreEmpty() throws Exception {
        // Four directions and ten partitions: some have no row.
        float[][] few = new float[40][Pools.DIMENSION];
        for (int i = 0; i < few.length; i++) {
            few[i][i % 4] = 1 + i;
        }
        Path file = folder.resolve("few.pool");
        PartitionedIndex.builder()
                .metric(Metric.COSINE)
                .partitions(10)
                .build(orchestrator, IntStream.range(0, 40).asLongStream().toArray(), VectorSource.of(few), file);
        assertThat(Pools.directory(file).partitions())
                .anyMatch(place -> place.rows() == 0)
                .anyMatch(place -> place.rows() > 0);
        try (RemoteTable table = RemoteTable.builder().open(orchestrator, "few", memory, "few.pool")) {
            SearchResult found = table.search(few[1], 10, 10).join();
            assertThat(found.size()).isEqualTo(10);
            assertThat(Arrays.stream(found.ids()).filter(id -> id % 4 == 1).count())
                    .isEqualTo(10);
            assertThat(found.distances()[9]).isLessThan(1e-6f);
        }
    }

    @Test
    void moreThanThePartitionsAndBadOptionsAreRefusedByName() throws Exception {
        try (RemoteTable table = open(RemoteTable.builder())) {
            assertThatThrownBy(() -> table.search(queries[0], K, PARTITIONS + 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("visited partitions must be between 1 and 21, got 22");
        }
        assertThatThrownBy(() -> open(RemoteTable.builder().cacheBytes(10_000)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got 10000");
        assertThatThrownBy(() -> PartitionedIndex.builder().metric(Metric.INNER_PRODUCT))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PartitionedIndex.builder().boundary(2))
                .hasMessage("boundary must be between 0 and 1, got 2.0");
        assertThatThrownBy(() -> Pools.build(
                        orchestrator,
                        PartitionedIndex.builder().partitions(ROWS + 1),
                        rows,
                        folder.resolve("none.pool")))
                .hasMessageContaining("partitions must be at most the number of rows");
    }

    @Test
    void aRegionThatIsShorterThanItSaysOrDamagedIsRefusedByName() throws Exception {
        Path file = folder.resolve("short.pool");
        Files.copy(folder.resolve(POOL), file);
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.setLength(open.length() - 4_096);
            assertThatThrownBy(() -> RemoteTable.builder().open(orchestrator, "short", memory, "short.pool"))
                    .isInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("its head says " + pool.bytes());
            open.setLength(100);
            assertThatThrownBy(() -> RemoteTable.builder().open(orchestrator, "short", memory, "short.pool"))
                    .hasMessageContaining("less than a pool's head");
        }
        long metaAt;
        long directoryAt;
        try (OpenPool open = OpenPool.open(memory.open(POOL), Duration.ofSeconds(5))) {
            metaAt = open.head().metaAt();
            directoryAt = open.root().directoryAt();
        }
        Map<Long, String> damages = Map.of(
                0L,
                "is not a pool of remote memory",
                13L,
                "has a damaged head",
                60L,
                "has a damaged head",
                metaAt + 70,
                "has damaged centroids",
                directoryAt + 70,
                "has no whole directory of its epoch");
        for (Map.Entry<Long, String> damage : damages.entrySet()) {
            Files.copy(folder.resolve(POOL), file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
            try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
                open.seek(damage.getKey());
                int value = open.read();
                open.seek(damage.getKey());
                open.write(value ^ 8);
            }
            assertThatThrownBy(() -> RemoteTable.builder().open(orchestrator, "short", memory, "short.pool"))
                    .isInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("short.pool")
                    .hasMessageContaining(damage.getValue());
        }
    }

    @Test
    void closeWaitsForWhatWasAcceptedAndASecondCloseForTheFirst() throws Exception {
        RemoteTable table = open(RemoteTable.builder());
        memory.hold();
        CompletableFuture<SearchResult> answer =
                table.search(SearchRequest.of(queries[0], K).effort(1));
        awaitParked(1);
        CompletableFuture<Void> first = CompletableFuture.runAsync(table::close, Thread::startVirtualThread);
        while (table.registration().isOpen()) {
            Thread.onSpinWait();
        }
        Thread second = Thread.ofPlatform().start(table::close);
        while (second.getState() != Thread.State.TIMED_WAITING) {
            assertThat(second.isAlive()).isTrue();
        }
        assertThat(first).isNotDone();
        assertThat(memory.openRegions()).isEqualTo(1);
        memory.letGo();
        second.join();
        assertThat(answer).isDone();
        assertThat(answer.join().size()).isEqualTo(K);
        assertThat(table.stats().bytes()).isZero();
        assertThat(memory.openRegions()).isZero();
        first.join();
    }

    @Test
    void aTableClosedInsideASearchIsFreedWhenTheLastSearchHasEnded() throws Exception {
        RemoteTable table = open(RemoteTable.builder());
        IdFilter closes = IdFilter.of(id -> {
            table.close();
            return true;
        });
        SearchRequest request = SearchRequest.of(queries[0], K).effort(2).filter(closes);
        assertThat(table.search(request).join().size()).isEqualTo(K);
        table.close();
        assertThat(memory.openRegions()).isZero();
    }

    @Test
    void itsBytesAreThoseOfTheCacheOfThisProcess() throws Exception {
        try (RemoteTable table = open(RemoteTable.builder())) {
            assertThat(table.stats().bytes()).isZero();
            table.search(queries[0], K, 1).join();
            int partition = table.partitionsOf(queries[0], 1)[0];
            Directory directory = Pools.directory(folder.resolve(POOL));
            assertThat(table.stats().bytes())
                    .isEqualTo(directory.partitions().get(partition).bytes()
                            + directory.gapOf(partition).bytes());
        }
    }

    @Test
    void aClosedTableRefusesAndWhatWasAcceptedEnds() throws Exception {
        RemoteTable table = open(RemoteTable.builder());
        List<CompletableFuture<SearchResult>> answers = table.searchAll(batch(3));
        table.close();
        table.close();
        for (CompletableFuture<SearchResult> answer : answers) {
            assertThat(answer.join().size()).isEqualTo(K);
        }
        assertThatThrownBy(() -> table.search(queries[0], K)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> table.vector(1)).isInstanceOf(TableClosedException.class);
    }

    @Test
    void aSavedPoolIsOpenedLikeTheFirst() throws Exception {
        try (RemoteTable table = open(RemoteTable.builder())) {
            table.save(folder.resolve("saved.pool"));
            try (RemoteTable saved = RemoteTable.builder().open(orchestrator, "saved", memory, "saved.pool")) {
                for (float[] query : queries) {
                    assertThat(saved.search(query, K, 5).join())
                            .isEqualTo(table.search(query, K, 5).join());
                }
                assertThat(saved.size()).isEqualTo(ROWS);
            }
        }
    }

    @Test
    void theStatisticsCountTheTransfers() throws Exception {
        CountingMemory counting = new CountingMemory(memory);
        try (RemoteTable table = RemoteTable.builder().open(orchestrator, "counted", counting, POOL)) {
            CountingMemory.Totals before = counting.totals();
            table.searchAll(batch(3)).forEach(CompletableFuture::join);
            CountingMemory.Totals after = counting.totals();
            RemoteTable.Stats stats = table.remoteStats();
            // Each group of queries reads three words besides, in one doorbell.
            long words = after.doorbells() - before.doorbells() - stats.doorbells();
            assertThat(after.pieces() - before.pieces()).isEqualTo(stats.reads() + 3 * words);
            assertThat(after.bytes() - before.bytes()).isEqualTo(stats.bytesRead() + 24 * words);
        }
    }
}
