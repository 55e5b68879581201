package io.github.roost.index.jvector;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.jbellis.jvector.disk.ReaderSupplier;
import io.github.jbellis.jvector.disk.ReaderSupplierFactory;
import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult.NodeScore;
import io.github.jbellis.jvector.graph.disk.OnDiskGraphIndex;
import io.github.jbellis.jvector.util.Bits;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.TableClosedException;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class JvectorTableTest {
    private static final int ROWS = 1_500;
    private static final int DIMENSION = 24;
    private static final float[][] VALUES = gaussian(ROWS, DIMENSION, new Random(1));
    private static final float[][] QUERIES = gaussian(40, DIMENSION, new Random(2));
    private static final VectorSimilarityFunction L2 = VectorSimilarityFunction.EUCLIDEAN;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .build();
    private final RandomAccessVectorValues vectors = Graphs.vectors(VALUES);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private ImmutableGraphIndex graph() throws IOException {
        return Graphs.build(vectors, L2);
    }

    private JvectorTable table(ImmutableGraphIndex graph) {
        return JvectorTable.builder().build(orchestrator, graph, vectors);
    }

    /** Checks that an answer is jvector's own, in the same order and at the distances of its scores. */
    private static void assertEqual(
            SearchResult found, io.github.jbellis.jvector.graph.SearchResult alone, Metric metric) {
        NodeScore[] nodes = alone.getNodes();
        assertThat(found.ids())
                .isEqualTo(Arrays.stream(nodes).mapToLong(node -> node.node).toArray());
        for (int i = 0; i < nodes.length; i++) {
            assertThat(found.distances()[i]).isEqualTo(Scores.distance(metric, nodes[i].score));
        }
        // jvector does not count the node that a search begins with.
        assertThat(found.cost().visited()).isEqualTo(alone.getVisitedCount() + 1);
        assertThat(found.cost().expanded()).isEqualTo(alone.getExpandedCount());
        assertThat(found.cutShort()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void answersEqualThoseOfJvectorAlone(Metric metric) throws IOException {
        VectorSimilarityFunction similarity = Scores.function(metric);
        ImmutableGraphIndex graph = Graphs.build(vectors, similarity);
        try (JvectorTable table = JvectorTable.builder().metric(metric).build(orchestrator, graph, vectors)) {
            for (float[] query : QUERIES) {
                for (int ef : new int[] {10, 100, ROWS}) {
                    SearchResult found = table.search(query, 10, ef).join();
                    assertEqual(found, Graphs.search(graph, vectors, similarity, query, 10, ef, Bits.ALL), metric);
                    for (int i = 0; i < found.size(); i++) {
                        float exact = ExactSearch.distance(VALUES[(int) found.ids()[i]], query, metric);
                        assertThat(found.distances()[i]).isCloseTo(exact, within(1e-6f * (2 + Math.abs(exact))));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void answersOfAGraphOnDiskEqualThoseOfJvectorAlone(Metric metric) throws IOException {
        VectorSimilarityFunction similarity = Scores.function(metric);
        Path file = folder.resolve("graph");
        OnDiskGraphIndex.write(Graphs.build(vectors, similarity), vectors, file);
        try (ReaderSupplier reader = ReaderSupplierFactory.open(file)) {
            OnDiskGraphIndex graph = OnDiskGraphIndex.load(reader);
            try (JvectorTable stored = JvectorTable.builder().metric(metric).build(orchestrator, graph);
                    JvectorTable given = JvectorTable.builder().metric(metric).build(orchestrator, graph, vectors)) {
                for (float[] query : QUERIES) {
                    var alone = Graphs.search(graph, vectors, similarity, query, 10, 50, Bits.ALL);
                    assertEqual(stored.search(query, 10, 50).join(), alone, metric);
                    assertEqual(given.search(query, 10, 50).join(), alone, metric);
                }
                assertThat(stored.vector(7)).isEqualTo(VALUES[7]);
            }
        }
    }

    @Test
    void filteredAnswersEqualThoseOfJvectorAlone() throws IOException {
        ImmutableGraphIndex graph = graph();
        try (JvectorTable table = table(graph)) {
            for (int share : new int[] {2, 10, 200, ROWS}) {
                IdFilter filter = IdFilter.of(id -> id % share == 0);
                for (float[] query : QUERIES) {
                    SearchResult found = table.search(
                                    SearchRequest.of(query, 10).effort(50).filter(filter))
                            .join();
                    assertEqual(
                            found,
                            Graphs.search(graph, vectors, L2, query, 10, 50, node -> node % share == 0),
                            Metric.SQUARED_L2);
                }
            }
            assertThat(table.search(SearchRequest.of(QUERIES[0], 10).filter(IdFilter.of(id -> false)))
                            .join()
                            .ids())
                    .isEmpty();
        }
    }

    @Test
    void aFilterThatThrowsFailsItsSearchAlone() throws IOException {
        try (JvectorTable table = table(graph())) {
            SearchResult expected = table.search(QUERIES[0], 10).join();
            assertThatThrownBy(table.search(SearchRequest.of(QUERIES[0], 10).filter(IdFilter.of(id -> {
                        throw new IllegalStateException("no answer for " + id);
                    })))::join)
                    .hasCauseInstanceOf(IllegalStateException.class);
            assertThat(table.search(QUERIES[0], 10).join()).isEqualTo(expected);
        }
    }

    @Test
    void aSearchForMoreRowsThanThereAreFindsAll() throws IOException {
        try (JvectorTable table = table(graph())) {
            SearchResult found = table.search(QUERIES[0], 10_000).join();
            assertThat(found.ids())
                    .containsExactlyInAnyOrder(LongStream.range(0, ROWS).toArray());
            assertThat(found.distances()).isSorted();
        }
    }

    @Test
    void tablesOfOneRowOrNoneAnswer() throws IOException {
        RandomAccessVectorValues one = Graphs.vectors(new float[][] {VALUES[0]});
        try (GraphIndexBuilder builder = Graphs.builder(one, L2)) {
            try (JvectorTable table = JvectorTable.builder().build(orchestrator, builder.getGraph(), one)) {
                assertThat(table.size()).isZero();
                assertThat(table.search(QUERIES[0], 10).join().ids()).isEmpty();
                assertThat(table.search(SearchRequest.of(QUERIES[0], 3).targetRecall(.9))
                                .join()
                                .ids())
                        .isEmpty();
            }
            try (JvectorTable table = JvectorTable.builder().build(orchestrator, builder.build(one), one)) {
                assertThat(table.size()).isOne();
                assertThat(table.search(QUERIES[0], 10).join().ids()).containsExactly(0);
            }
        }
    }

    @Test
    void rowsThatAreAllEqualAreFoundByAscendingId() throws IOException {
        float[][] equal = new float[300][];
        Arrays.fill(equal, VALUES[0]);
        RandomAccessVectorValues same = Graphs.vectors(equal);
        ImmutableGraphIndex graph = Graphs.build(same, L2);
        try (JvectorTable table = JvectorTable.builder().build(orchestrator, graph, same)) {
            SearchResult found = table.search(VALUES[0], 20, 60).join();
            assertEqual(found, Graphs.search(graph, same, L2, VALUES[0], 20, 60, Bits.ALL), Metric.SQUARED_L2);
            assertThat(found.ids()).isSorted().hasSize(20);
            assertThat(found.distances()).containsOnly(0);
        }
    }

    @Test
    void rowsHaveTheCallersIds() throws IOException {
        long[] ids = IntStream.range(0, ROWS)
                .mapToLong(row -> (ROWS - row) * 10_000_000_000L)
                .toArray();
        ImmutableGraphIndex graph = graph();
        try (JvectorTable table = JvectorTable.builder().ids(ids).build(orchestrator, graph, vectors)) {
            IdFilter filter = IdFilter.of(id -> id > ROWS / 2 * 10_000_000_000L);
            SearchResult found = table.search(
                            SearchRequest.of(QUERIES[0], 10).effort(50).filter(filter))
                    .join();
            assertThat(found.ids())
                    .isEqualTo(Arrays.stream(
                                    Graphs.search(graph, vectors, L2, QUERIES[0], 10, 50, node -> node < ROWS / 2)
                                            .getNodes())
                            .mapToLong(node -> ids[node.node])
                            .toArray());
            assertThat(table.vector(ids[3])).isEqualTo(VALUES[3]);
            assertThat(table.vector(3)).isNull();
        }
    }

    @Test
    void nodesThatAreDeletedAreNotFound() throws IOException {
        try (GraphIndexBuilder builder = Graphs.builder(vectors, L2)) {
            ImmutableGraphIndex graph = builder.build(vectors);
            long[] nearest;
            try (JvectorTable table = table(graph)) {
                nearest = table.search(QUERIES[0], 10, 100).join().ids();
            }
            for (long node : nearest) {
                builder.markNodeDeleted((int) node);
            }
            try (JvectorTable table = table(graph)) {
                assertThat(table.size()).isEqualTo(ROWS - nearest.length);
                assertThat(table.vector(nearest[0])).isNull();
                assertThat(table.search(QUERIES[0], 10, 100).join().ids())
                        .doesNotContain(nearest)
                        .hasSize(10);
                assertThat(table.search(SearchRequest.of(QUERIES[0], 10).targetRecall(.9))
                                .join()
                                .size())
                        .isEqualTo(10);
                assertThatThrownBy(() -> table.save(folder.resolve("refused")))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("cleanup");
                assertThat(folder).isEmptyDirectory();
            }
            // Leaves holes among the ordinals.
            builder.cleanup();
            try (JvectorTable table = table(graph)) {
                assertThat(table.size()).isEqualTo(ROWS - nearest.length);
                assertThat(table.vector(nearest[0])).isNull();
                assertEqual(
                        table.search(QUERIES[0], 10, 100).join(),
                        Graphs.search(graph, vectors, L2, QUERIES[0], 10, 100, Bits.ALL),
                        Metric.SQUARED_L2);
                Path file = folder.resolve("saved");
                table.save(file);
                assertSaved(file, table);
            }
        }
    }

    @Test
    void ordinalsOnDiskMayHaveHoles() throws IOException {
        Map<Integer, Integer> odd = new HashMap<>();
        IntStream.range(0, ROWS).forEach(row -> odd.put(row, 2 * row + 1));
        Path file = folder.resolve("holes");
        ImmutableGraphIndex heap = graph();
        OnDiskGraphIndex.write(heap, vectors, odd, file);
        long[] ids = new long[2 * ROWS];
        for (int row = 0; row < ROWS; row++) {
            ids[2 * row + 1] = -row;
        }
        try (ReaderSupplier reader = ReaderSupplierFactory.open(file)) {
            OnDiskGraphIndex graph = OnDiskGraphIndex.load(reader);
            try (JvectorTable plain = JvectorTable.builder().build(orchestrator, graph);
                    JvectorTable named = JvectorTable.builder().ids(ids).build(orchestrator, graph);
                    JvectorTable onHeap = table(heap)) {
                assertThat(plain.size()).isEqualTo(ROWS);
                assertThat(plain.vector(8)).isNull();
                assertThat(plain.vector(9)).isEqualTo(VALUES[4]);
                assertThat(plain.vector(2L * ROWS)).isNull();
                assertThat(plain.vector(-1)).isNull();
                assertThat(named.vector(-4)).isEqualTo(VALUES[4]);
                for (float[] query : QUERIES) {
                    long[] rows = onHeap.search(query, 10).join().ids();
                    assertThat(plain.search(query, 10).join().ids())
                            .isEqualTo(
                                    Arrays.stream(rows).map(row -> 2 * row + 1).toArray());
                    assertThat(named.search(query, 10).join().ids())
                            .isEqualTo(Arrays.stream(rows).map(row -> -row).toArray());
                }
                assertThat(plain.effortFor(.9, 10, QUERIES)).isBetween(10, ROWS);
                assertThatThrownBy(() -> plain.save(folder.resolve("refused")))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("got 1500 rows of 3000 ordinals");
            }
        }
    }

    @Test
    void aSavedTableIsAGraphOfJvector() throws IOException {
        Path file = folder.resolve("saved");
        Path again = folder.resolve("again");
        try (JvectorTable table = table(graph())) {
            table.save(file);
            table.verify();
            assertSaved(file, table);
            try (ReaderSupplier reader = ReaderSupplierFactory.open(file);
                    JvectorTable loaded = JvectorTable.builder().build(orchestrator, OnDiskGraphIndex.load(reader))) {
                loaded.save(again);
                loaded.save(again);
            }
            assertSaved(again, table);
        }
    }

    private void assertSaved(Path file, JvectorTable table) throws IOException {
        try (ReaderSupplier reader = ReaderSupplierFactory.open(file);
                JvectorTable loaded = JvectorTable.builder().build(orchestrator, OnDiskGraphIndex.load(reader))) {
            assertThat(loaded.size()).isEqualTo(table.size());
            for (float[] query : QUERIES) {
                assertThat(loaded.search(query, 10).join())
                        .isEqualTo(table.search(query, 10).join());
            }
        }
    }

    @Test
    void aVisitLimitEndsASearch() throws IOException {
        try (JvectorTable table = table(graph())) {
            SearchResult all = table.search(QUERIES[0], 10, 200).join();
            for (int limit : new int[] {1, 50, 200}) {
                SearchResult found = table.search(
                                SearchRequest.of(QUERIES[0], 10).effort(200).visitLimit(limit))
                        .join();
                assertThat(found.cutShort()).isTrue();
                // The neighbors of the last node are all compared.
                assertThat(found.cost().visited()).isBetween((long) limit, limit + 20L);
                assertThat(found.size()).isPositive();
                assertThat(found.distances()).isSorted();
            }
            SearchResult unlimited = table.search(SearchRequest.of(QUERIES[0], 10)
                            .effort(200)
                            .visitLimit(all.cost().visited()))
                    .join();
            assertThat(unlimited).isEqualTo(all);
            IdFilter even = IdFilter.of(id -> id % 2 == 0);
            SearchResult filtered = table.search(
                            SearchRequest.of(QUERIES[0], 10).visitLimit(100).filter(even))
                    .join();
            assertThat(Arrays.stream(filtered.ids())).isNotEmpty().allMatch(even::allows);
        }
    }

    @Test
    void aRadiusExcludesRowsBeyondIt() throws IOException {
        try (JvectorTable table = table(graph())) {
            SearchResult all = table.search(QUERIES[0], 10).join();
            SearchResult found = table.search(SearchRequest.of(QUERIES[0], 10).radius(all.distances()[4]))
                    .join();
            assertThat(found.ids()).isEqualTo(Arrays.copyOf(all.ids(), 5));
        }
    }

    @Test
    void aTargetRecallIsReached() throws IOException {
        try (JvectorTable table = table(graph())) {
            int effort = table.effortFor(.95, 10, QUERIES);
            assertThat(effort).isBetween(10, ROWS);
            int hits = 0;
            for (float[] query : QUERIES) {
                SearchResult truth = ExactSearch.exact(VALUES, query, 10, Metric.SQUARED_L2);
                hits += ExactSearch.hits(truth, table.search(query, 10, effort).join());
            }
            assertThat(hits / (10. * QUERIES.length)).isGreaterThanOrEqualTo(.95);
            assertThat(table.search(SearchRequest.of(QUERIES[0], 10).targetRecall(.9))
                            .join()
                            .size())
                    .isEqualTo(10);
        }
    }

    @Test
    void aSearchThatIsNoLongerWantedEndsAndLeavesItsSearcherUsable() throws IOException {
        ImmutableGraphIndex graph = graph();
        try (Searcher searcher = new Searcher(graph, vectors, L2)) {
            AtomicInteger requested = new AtomicInteger();
            SearchContext counting = SearchContext.outside((nodes, bytes) -> {}, () -> requested.incrementAndGet() < 0);
            NodeScore[] expected = searcher.search(QUERIES[0], 10, 200, Bits.ALL, Long.MAX_VALUE, counting);
            int asks = requested.get();
            assertThat(asks).isGreaterThan(10);
            for (int last = 1; last <= asks; last++) {
                AtomicInteger left = new AtomicInteger(last);
                AtomicLong touched = new AtomicLong();
                SearchContext ending = SearchContext.outside(
                        (nodes, bytes) -> touched.addAndGet(nodes), () -> left.decrementAndGet() == 0);
                assertThatThrownBy(() -> searcher.search(QUERIES[0], 10, 200, Bits.ALL, Long.MAX_VALUE, ending))
                        .isInstanceOf(DeadlineExceededException.class);
                assertThat(touched).hasValue(32L * last);
                assertThat(searcher.search(QUERIES[0], 10, 200, Bits.ALL, Long.MAX_VALUE, counting))
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void trafficIsWhatASearchReads() throws IOException {
        try (Searcher searcher = new Searcher(graph(), vectors, L2)) {
            long[] touched = new long[2];
            searcher.search(QUERIES[0], 10, 100, Bits.ALL, Long.MAX_VALUE, SearchContext.outside((nodes, bytes) -> {
                touched[0] += nodes;
                touched[1] += bytes;
            }));
            assertThat(touched[0]).isEqualTo(searcher.cost().visited());
            assertThat(touched[1])
                    .isEqualTo(searcher.cost().visited() * DIMENSION * Float.BYTES
                            + searcher.cost().expanded() * 16 * Integer.BYTES);
        }
    }

    /** A graph that counts its open views. */
    private static ImmutableGraphIndex counted(ImmutableGraphIndex graph, AtomicInteger open) {
        ClassLoader loader = JvectorTableTest.class.getClassLoader();
        return (ImmutableGraphIndex) Proxy.newProxyInstance(
                loader, new Class<?>[] {ImmutableGraphIndex.class}, (proxy, method, arguments) -> {
                    Object result = invoke(graph, method, arguments);
                    if (!method.getName().equals("getView")) {
                        return result;
                    }
                    open.incrementAndGet();
                    return Proxy.newProxyInstance(
                            loader, new Class<?>[] {ImmutableGraphIndex.View.class}, (view, called, with) -> {
                                if (called.getName().equals("close")) {
                                    open.decrementAndGet();
                                }
                                return invoke(result, called, with);
                            });
                });
    }

    private static Object invoke(Object target, java.lang.reflect.Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    @Test
    void closingWaitsForSearchesAndClosesAllViews() throws Exception {
        AtomicInteger open = new AtomicInteger();
        ImmutableGraphIndex graph = graph();
        JvectorTable table = table(counted(graph, open));
        CountDownLatch searching = new CountDownLatch(2);
        CountDownLatch release = new CountDownLatch(1);
        IdFilter waiting = IdFilter.of(id -> {
            searching.countDown();
            try {
                release.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return true;
        });
        List<CompletableFuture<SearchResult>> accepted = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            accepted.add(table.search(SearchRequest.of(QUERIES[i], 10).filter(waiting)));
        }
        searching.await();
        CompletableFuture<Void> closed = CompletableFuture.runAsync(table::close);
        while (table.registration().isOpen()) {
            Thread.onSpinWait();
        }
        assertThatThrownBy(() -> table.search(QUERIES[0], 10)).isInstanceOf(TableClosedException.class);
        assertThat(closed).isNotDone();
        assertThat(open).hasPositiveValue();
        release.countDown();
        closed.join();
        for (CompletableFuture<SearchResult> each : accepted) {
            assertThat(each.join().size()).isEqualTo(10);
        }
        assertThat(open).hasValue(0);
        assertThatThrownBy(() -> table.vector(1)).isInstanceOf(TableClosedException.class);
        assertThatThrownBy(() -> table.save(folder.resolve("closed"))).isInstanceOf(TableClosedException.class);
        table.close();
        // The graph is still the caller's.
        assertThat(Graphs.search(graph, vectors, L2, QUERIES[0], 10, 10, Bits.ALL)
                        .getNodes())
                .hasSize(10);
    }

    @Test
    void manyThreadsGetTheSameAnswers() throws Exception {
        Path file = folder.resolve("shared");
        OnDiskGraphIndex.write(graph(), vectors, file);
        try (ReaderSupplier reader = ReaderSupplierFactory.open(file);
                JvectorTable table = JvectorTable.builder().build(orchestrator, OnDiskGraphIndex.load(reader));
                ExecutorService callers = Executors.newFixedThreadPool(16)) {
            List<SearchResult> expected = Arrays.stream(QUERIES)
                    .map(query -> table.search(query, 10).join())
                    .toList();
            List<Future<List<SearchResult>>> answers = new ArrayList<>();
            for (int caller = 0; caller < 16; caller++) {
                answers.add(callers.submit(() -> Arrays.stream(QUERIES)
                        .map(query -> table.search(query, 10).join())
                        .toList()));
            }
            for (Future<List<SearchResult>> each : answers) {
                assertThat(each.get()).isEqualTo(expected);
            }
        }
    }

    @Test
    void tablesOfOneGraphBelongToOneOrchestratorEach() throws IOException {
        ImmutableGraphIndex graph = graph();
        try (Orchestrator other = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1")
                                .read())
                        .build();
                JvectorTable table = table(graph);
                JvectorTable twin = JvectorTable.builder().build(other, graph, vectors)) {
            assertThat(twin.search(QUERIES[0], 10).join())
                    .isEqualTo(table.search(QUERIES[0], 10).join());
            SearchFunction<Integer, Integer> same = (query, context) -> query;
            assertThatThrownBy(() -> other.submit(same, 1, table.registration().id(0)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another orchestrator");
        }
    }

    @Test
    void argumentsThatDoNotFitAreRefused() throws IOException {
        ImmutableGraphIndex graph = graph();
        JvectorTable.Builder builder = JvectorTable.builder();
        assertThatThrownBy(() -> builder.build(orchestrator, graph, Graphs.vectors(new float[][] {{1}})))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("vectors must have the graph's 24 dimensions, got 1");
        assertThatThrownBy(() -> JvectorTable.builder().ids(new long[2]).build(orchestrator, graph, vectors))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("there must be one id per ordinal of the graph, got 2 ids for 1500 ordinals");
        assertThatThrownBy(() -> JvectorTable.builder().ids(new long[ROWS]).build(orchestrator, graph, vectors))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("ids must differ, got 0 twice");
        Path file = folder.resolve("view");
        OnDiskGraphIndex.write(graph, vectors, file);
        try (ReaderSupplier reader = ReaderSupplierFactory.open(file);
                OnDiskGraphIndex.View view = OnDiskGraphIndex.load(reader).getView()) {
            assertThatThrownBy(() -> builder.build(orchestrator, graph, view))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("several threads");
        }
        float[] notANumber = QUERIES[0].clone();
        notANumber[3] = Float.NaN;
        try (JvectorTable table = table(graph)) {
            assertThatThrownBy(() -> table.search(notANumber, 10)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> table.search(new float[1], 10)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> table.search(QUERIES[0], 10, 9))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("ef");
        }
    }
}
