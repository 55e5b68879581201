package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats.TableStats;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.testkit.lucene.PackageIndex;
import io.github.roost.testkit.lucene.Packages;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.SearcherFactory;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.ThreadInterruptedException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("stress")
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SegmentHomesTest {
    private static final int K = 10;
    private static final int DOMAINS = 3;
    private static final int RING = 8;

    private final Orchestrator orchestrator = orchestrator(DOMAINS, 8, 1_024);

    private final SegmentHomes homes = new SegmentHomes(orchestrator, "packages");

    private Directory directory;
    private WatchedReader reader;

    @BeforeEach
    void open() throws IOException {
        directory = Packages.index();
        reader = new WatchedReader(DirectoryReader.open(directory));
    }

    @AfterEach
    void close() throws IOException {
        reader.close();
        orchestrator.close();
        directory.close();
    }

    /** Homes stay where they are, since no window ends while a test runs, and searches stay at home, however loaded the machine. */
    private static Orchestrator orchestrator(int domains, int cores, int ringCapacity) {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:%d core:%d pu:1".formatted(domains, cores))
                        .read())
                .windows(Duration.ofHours(1), Duration.ofHours(1))
                .ringCapacity(ringCapacity)
                .crossDomainGate(new CrossDomainGate(Long.MAX_VALUE))
                .build();
    }

    @Test
    void vectorsOfASegmentAreSearchedInItsHomeDomainOnly() throws IOException {
        IndexSearcher searcher = homes.searcher(reader);
        for (DebianPackages.Query query : Packages.SOME.queries().subList(0, 100)) {
            searcher.search(PackageIndex.meaning(query.vector(), K), K);
        }
        Map<LeafReaderContext, Set<String>> threads = new HashMap<>();
        reader.leaves().forEach(leaf -> threads.put(leaf, reader.searchersOf(leaf.reader())));
        assertEachAtHome(threads);
    }

    @Test
    void wordsAreSearchedInTheHomeDomainOfTheirSegmentOnly() throws IOException {
        IndexSearcher searcher = homes.searcher(reader);
        Map<LeafReaderContext, Set<String>> threads = new ConcurrentHashMap<>();
        for (DebianPackages.Query query : Packages.SOME.queries().subList(0, 100)) {
            searcher.search(
                    PackageIndex.words(query.text()),
                    new Collecting(segment -> threads.computeIfAbsent(
                                    reader.leaves().get(segment.ord), key -> ConcurrentHashMap.newKeySet())
                            .add(Thread.currentThread().getName())));
        }
        assertEachAtHome(threads);
    }

    private void assertEachAtHome(Map<LeafReaderContext, Set<String>> threads) {
        Set<Integer> used = new HashSet<>();
        for (LeafReaderContext leaf : reader.leaves()) {
            List<Integer> home = orchestrator.homes(homes.idOf(leaf.reader()));
            assertThat(home).hasSize(1);
            assertThat(threads.get(leaf))
                    .isNotEmpty()
                    .allSatisfy(thread -> assertThat(thread).startsWith("roost-worker-" + home.getFirst() + "."));
            used.addAll(home);
        }
        assertThat(used).hasSize(DOMAINS);
    }

    @Test
    void trafficIsTheVectorsVisited() throws IOException {
        homes.searcher(reader).search(PackageIndex.meaning(Packages.SOME.vectors()[0], K), K);
        List<TableStats> segments = orchestrator.stats().tables();
        assertThat(segments).hasSize(Packages.SEGMENTS).allSatisfy(segment -> {
            assertThat(segment.trafficBytes() % (DebianPackages.DIMENSION * Float.BYTES))
                    .isZero();
            assertThat(segment.trafficBytes() / (DebianPackages.DIMENSION * Float.BYTES))
                    .isBetween((long) K, (long) Packages.SOME.packages().size());
        });
    }

    @Test
    void aSegmentKeepsItsIdOverReopeningAndGivesItBackAtTheEnd() throws IOException {
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer()).setMergePolicy(NoMergePolicy.INSTANCE);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            SearcherManager manager =
                    new SearcherManager(homes.reader(DirectoryReader.open(writer)), new SearcherFactory() {
                        @Override
                        public IndexSearcher newSearcher(IndexReader next, @Nullable IndexReader previous)
                                throws IOException {
                            return homes.searcher((DirectoryReader) next);
                        }
                    });
            assertThat(tables()).isEqualTo(Packages.SEGMENTS);
            writer.deleteDocuments(PackageIndex.row(0));
            manager.maybeRefreshBlocking();
            assertThat(tables()).isEqualTo(Packages.SEGMENTS);
            IndexSearcher searcher = manager.acquire();
            assertThat(searcher.count(MatchAllDocsQuery.INSTANCE))
                    .isEqualTo(Packages.SOME.packages().size() - 1);
            manager.release(searcher);
            manager.close();
        }
        // A table is listed until the last task that was dispatched before has left its worker, just after its answer;
        // the
        // time limit of this class ends a wait for nothing.
        while (tables() > 0) {
            Thread.onSpinWait();
        }
    }

    private int tables() {
        return orchestrator.stats().tables().size();
    }

    @Test
    void aSearchThatAFullDomainRejectsFails() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (Orchestrator small = orchestrator(2, 1, RING)) {
            IndexSearcher searcher = new SegmentHomes(small, "packages").searcher(reader);
            CountDownLatch busy = new CountDownLatch(2);
            CompletableFuture<Integer> last = CompletableFuture.completedFuture(0);
            List<MappingId> others = List.of(anIdAt(0, small), anIdAt(1, small));
            for (MappingId other : others) {
                var _ = small.submit(
                        (query, context) -> {
                            busy.countDown();
                            return release.await(1, TimeUnit.MINUTES);
                        },
                        0,
                        other);
            }
            busy.await();
            for (MappingId other : others) {
                for (int waiting = 1; waiting <= RING; waiting++) {
                    last = small.submit((query, context) -> query, waiting, other);
                }
            }
            assertThatThrownBy(() -> searcher.search(PackageIndex.words("python"), K))
                    .isInstanceOf(RejectedSearchException.class)
                    .hasMessageContaining("is full");
            release.countDown();
            assertThat(last.get()).isEqualTo(RING);
            assertThat(searcher.search(PackageIndex.words("python"), K).scoreDocs)
                    .hasSize(K);
        } finally {
            release.countDown();
        }
    }

    private static MappingId anIdAt(int domain, Orchestrator of) {
        MappingId id = of.register("other").id();
        while (!of.homes(id).equals(List.of(domain))) {
            id = of.register("other").id();
        }
        return id;
    }

    @ParameterizedTest
    @CsvSource({"pack:1 l3:1 core:2 pu:1,L3", "pack:1 l3:1 l2:2 core:1 pu:1,L2"})
    void underOneL3TheCallerSearchesAndTheTrafficOfEachSegmentIsCounted(String machine, DomainLevel level)
            throws IOException {
        try (Orchestrator single = Orchestrator.builder()
                .topology(TopologyReader.synthetic(machine).level(level).read())
                .build()) {
            IndexSearcher searcher = new SegmentHomes(single, "packages").searcher(reader);
            Set<Thread> threads = ConcurrentHashMap.newKeySet();
            searcher.search(
                    PackageIndex.words("python"), new Collecting(segment -> threads.add(Thread.currentThread())));
            assertThat(threads).containsExactly(Thread.currentThread());
            for (DebianPackages.Query query : Packages.SOME.queries().subList(0, 20)) {
                assertThat(hits(searcher, query)).isEqualTo(hits(new IndexSearcher(reader), query));
            }
            assertThat(single.stats().tables()).hasSize(Packages.SEGMENTS).allMatch(table -> table.trafficBytes() > 0);
            assertThat(single.stats().tasks().completed()).isZero();
        }
    }

    @Test
    void homesThatAreForcedAreUsedOnOneDomainToo() throws IOException {
        try (Orchestrator single = orchestrator(1, 1, 1_024)) {
            IndexSearcher searcher = SegmentHomes.always(single, "packages").searcher(reader);
            Set<Thread> threads = ConcurrentHashMap.newKeySet();
            searcher.search(
                    PackageIndex.words("python"), new Collecting(segment -> threads.add(Thread.currentThread())));
            assertThat(threads).hasSize(1).doesNotContain(Thread.currentThread());
        }
    }

    @Test
    void aSearchWhoseCallerIsInterruptedBeforeItBeginsNeverDoes() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (Orchestrator single = orchestrator(1, 1, RING);
                HnswTable rows = HnswTable.builder().build(single, Arrays.copyOf(Packages.SOME.vectors(), 100))) {
            RoostTable table = RoostTable.of(rows, 100, PackageIndex.ROW);
            MappingId other = single.register("other").id();
            CountDownLatch busy = new CountDownLatch(1);
            var _ = single.submit(
                    (query, context) -> {
                        busy.countDown();
                        return release.await(1, TimeUnit.MINUTES);
                    },
                    0,
                    other);
            busy.await();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() ->
                            new RoostKnnQuery(table, Packages.SOME.vectors()[0], K).rewrite(new IndexSearcher(reader)))
                    .isInstanceOf(ThreadInterruptedException.class);
            release.countDown();
            single.submit((query, context) -> query, 0, other).join();
            assertThat(single.stats().tasks().cancelled()).isEqualTo(1);
        } finally {
            release.countDown();
        }
    }

    @Test
    void whatACollectorThrowsIsWhatTheSearchThrows() throws IOException {
        IndexSearcher searcher = homes.searcher(reader);
        assertThatThrownBy(() -> searcher.search(PackageIndex.words("python"), new Collecting(segment -> {
                    throw new IOException("the disk is gone");
                })))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("the disk is gone");
    }

    @Test
    void aSearchInsideATaskWaitsForNoWorkerInVain() throws Exception {
        try (Orchestrator single = orchestrator(1, 1, 1_024)) {
            IndexSearcher searcher = SegmentHomes.always(single, "packages").searcher(reader);
            MappingId service = single.register("service").id();
            List<CompletableFuture<Integer>> answers = new ArrayList<>();
            for (DebianPackages.Query query : Packages.SOME.queries().subList(0, 50)) {
                answers.add(single.submit(
                        (vector, context) -> searcher.search(PackageIndex.meaning(vector, K), K).scoreDocs.length,
                        query.vector(),
                        service));
            }
            for (CompletableFuture<Integer> answer : answers) {
                assertThat(answer.get(30, TimeUnit.SECONDS)).isEqualTo(K);
            }
        }
    }

    @Test
    void manyClientsFindTheSameWhileHomesMove() throws Exception {
        int clients = 8;
        List<DebianPackages.Query> queries = Packages.SOME.queries().subList(0, 64);
        List<List<String>> expected = new ArrayList<>();
        for (DebianPackages.Query query : queries) {
            expected.add(hits(new IndexSearcher(reader), query));
        }
        try (Orchestrator moving = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 l3:2 core:2 pu:1")
                                .read())
                        .windows(Duration.ofMillis(2), Duration.ofMillis(4))
                        .remapTrigger(new RemapTrigger(1e-9, 0))
                        .build();
                ExecutorService pool = Executors.newFixedThreadPool(clients)) {
            IndexSearcher searcher = new SegmentHomes(moving, "packages").searcher(reader);
            List<Future<List<List<String>>>> found = new ArrayList<>();
            for (int client = 0; client < clients; client++) {
                found.add(pool.submit(() -> {
                    List<List<String>> mine = new ArrayList<>();
                    for (DebianPackages.Query query : queries) {
                        mine.add(hits(searcher, query));
                    }
                    return mine;
                }));
            }
            for (Future<List<List<String>>> client : found) {
                assertThat(client.get()).isEqualTo(expected);
            }
        }
    }

    private static List<String> hits(IndexSearcher searcher, DebianPackages.Query query) throws IOException {
        return Arrays.stream(searcher.search(PackageIndex.meaning(query.vector(), K), K).scoreDocs)
                .map(hit -> hit.doc + " " + hit.score)
                .toList();
    }
}
