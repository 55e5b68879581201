package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.testkit.lucene.PackageIndex;
import io.github.roost.testkit.lucene.Packages;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SearcherFactory;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;

/**
 * Answers from tables of Roost against the exact nearest among the live documents. Of the packages some are deleted and
 * some were written anew, so that documents and rows differ in order; the tables know all of them.
 */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RoostKnnQueryTest {
    private static final int K = 10;
    private static final int CHANGED = 500;
    private static final long SEED = 20_261_121;
    private static final DebianPackages PACKAGES = Packages.SOME;

    private final Set<Integer> deleted = new HashSet<>();
    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:2 pu:1").read())
            .build();

    private Directory directory;
    private DirectoryReader reader;
    private IndexSearcher searcher;
    private RoostTable exact;
    private RoostTable graph;

    /** A hit by what it means, whichever document it is. */
    private record Hit(long row, float score) {}

    @BeforeAll
    void open() throws IOException {
        directory = Packages.index();
        List<Integer> rows = new ArrayList<>(
                IntStream.range(0, PACKAGES.packages().size()).boxed().toList());
        Collections.shuffle(rows, new Random(SEED));
        try (IndexWriter writer = writer(directory)) {
            for (int row : rows.subList(0, CHANGED)) {
                writer.deleteDocuments(PackageIndex.row(row));
                deleted.add(row);
            }
            for (int row : rows.subList(CHANGED, 2 * CHANGED)) {
                writer.updateDocument(PackageIndex.row(row), PackageIndex.document(PACKAGES, row));
            }
        }
        reader = DirectoryReader.open(directory);
        searcher = new IndexSearcher(reader);
        IvfTable ivf = IvfTable.builder().nlist(32).build(orchestrator, PACKAGES.vectors());
        exact = RoostTable.of(ivf, ivf.nlist(), PackageIndex.ROW);
        graph = RoostTable.of(HnswTable.builder().build(orchestrator, PACKAGES.vectors()), 100, PackageIndex.ROW);
    }

    @AfterAll
    void close() throws IOException {
        reader.close();
        orchestrator.close();
        directory.close();
    }

    private static IndexWriter writer(Directory directory) throws IOException {
        return new IndexWriter(
                directory, new IndexWriterConfig(new StandardAnalyzer()).setMergePolicy(NoMergePolicy.INSTANCE));
    }

    /** A table whose searches end only if they are cancelled, except those that are done when they are submitted. */
    private static RoostTable stuck(List<CompletableFuture<SearchResult>> searches) {
        VectorTable table = (VectorTable) Proxy.newProxyInstance(
                VectorTable.class.getClassLoader(), new Class<?>[] {VectorTable.class}, (self, method, arguments) -> {
                    return switch (method.getName()) {
                        case "dimension" -> 2;
                        case "metric" -> Metric.SQUARED_L2;
                        case "minEffort", "maxEffort" -> 1;
                        case "name" -> "stuck";
                        case "search" -> searches.getFirst();
                        case "searchAll" -> searches;
                        default -> throw new UnsupportedOperationException(method.getName());
                    };
                });
        return RoostTable.of(table, 1, PackageIndex.ROW);
    }

    @Test
    void aSearchThatIsNotDoneWhenTheTimeoutPassesIsCancelledAndHasNoHits() throws IOException {
        IndexSearcher limited = new IndexSearcher(reader);
        AtomicInteger asked = new AtomicInteger();
        limited.setTimeout(() -> asked.incrementAndGet() > 3);
        CompletableFuture<SearchResult> search = new CompletableFuture<>();
        Query query = new RoostKnnQuery(stuck(List.of(search)), new float[2], K);
        assertThat(query.rewrite(limited)).isInstanceOf(MatchNoDocsQuery.class);
        assertThat(search).isCancelled();
        limited.setTimeout(() -> true);
        CompletableFuture<SearchResult> late = new CompletableFuture<>();
        assertThat(limited.count(new RoostKnnQuery(stuck(List.of(late)), new float[2], K)))
                .isZero();
        assertThat(late).isNotDone();
    }

    @Test
    void aBatchHasTheHitsOfTheSearchesThatAreDoneInTime() throws IOException {
        IndexSearcher limited = new IndexSearcher(reader);
        AtomicInteger asked = new AtomicInteger();
        limited.setTimeout(() -> asked.incrementAndGet() > 3);
        long row = IntStream.range(0, PACKAGES.packages().size())
                .filter(each -> !deleted.contains(each))
                .findFirst()
                .orElseThrow();
        CompletableFuture<SearchResult> done =
                CompletableFuture.completedFuture(new SearchResult(new long[] {row}, new float[] {1}));
        CompletableFuture<SearchResult> never = new CompletableFuture<>();
        List<TopDocs> found =
                RoostKnnQuery.batch(limited, stuck(List.of(never, done)), new float[][] {{0, 0}, {0, 0}}, K, null);
        assertThat(found).extracting(hits -> hits.scoreDocs.length).containsExactly(0, 1);
        assertThat(never).isCancelled();
    }

    @Test
    void aTimeoutThatDoesNotPassChangesNoHits() throws IOException {
        IndexSearcher limited = new IndexSearcher(reader);
        limited.setTimeout(() -> false);
        Query query = new RoostKnnQuery(exact, PACKAGES.queries().getFirst().vector(), K);
        assertThat(inOrder(limited.search(query, K))).isEqualTo(inOrder(searcher.search(query, K)));
    }

    @Test
    void aBatchFindsWhatEachQueryFindsAlone() throws IOException {
        Query python = new TermQuery(new Term("section", "python"));
        float[][] targets = PACKAGES.queries().stream()
                .limit(40)
                .map(DebianPackages.Query::vector)
                .toArray(float[][]::new);
        for (RoostTable table : List.of(exact, graph)) {
            for (Query filter : Arrays.asList(null, python, new MatchNoDocsQuery("nothing"))) {
                List<TopDocs> together = RoostKnnQuery.batch(searcher, table, targets, K, filter);
                assertThat(together).hasSize(targets.length);
                for (int i = 0; i < targets.length; i++) {
                    TopDocs alone = searcher.search(new RoostKnnQuery(table, targets[i], K, filter), K);
                    assertThat(inOrder(together.get(i))).isEqualTo(inOrder(alone));
                }
            }
        }
        assertThat(RoostKnnQuery.batch(searcher, exact, new float[0][], K, null))
                .isEmpty();
        assertThatThrownBy(
                        () -> RoostKnnQuery.batch(searcher, exact, new float[][] {targets[0], new float[3]}, K, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got 3");
    }

    /** By score, those of the same score by document. */
    private static List<String> inOrder(TopDocs found) {
        return Arrays.stream(found.scoreDocs)
                .sorted(Comparator.comparingDouble((ScoreDoc hit) -> -hit.score).thenComparingInt(hit -> hit.doc))
                .map(hit -> hit.doc + " " + hit.score)
                .toList();
    }

    /** The oracle: every row that is allowed, by Lucene's score of it, best first. */
    private static List<Hit> nearest(float[] query, int k, IntPredicate allowed) {
        return IntStream.range(0, PACKAGES.vectors().length)
                .filter(allowed)
                .mapToObj(row -> new Hit(row, score(query, PACKAGES.vectors()[row])))
                .sorted(Comparator.comparingDouble((Hit hit) -> -hit.score()).thenComparingLong(Hit::row))
                .limit(k)
                .toList();
    }

    private static float score(float[] a, float[] b) {
        float sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (a[i] - b[i]) * (a[i] - b[i]);
        }
        return 1 / (1 + sum);
    }

    /** What a search finds; hits of one score by row, since Lucene puts them by document. */
    private static List<Hit> hits(IndexSearcher searcher, Query query, int max) throws IOException {
        List<Hit> hits = new ArrayList<>();
        for (ScoreDoc hit : searcher.search(query, max).scoreDocs) {
            hits.add(new Hit(row(searcher.getIndexReader(), hit.doc), hit.score));
        }
        hits.sort(Comparator.comparingDouble((Hit hit) -> -hit.score()).thenComparingLong(Hit::row));
        return hits;
    }

    private static long row(IndexReader reader, int document) throws IOException {
        LeafReaderContext segment = reader.leaves().get(ReaderUtil.subIndex(document, reader.leaves()));
        NumericDocValues rows = DocValues.getNumeric(segment.reader(), PackageIndex.ROW);
        assertThat(rows.advanceExact(document - segment.docBase)).isTrue();
        return rows.longValue();
    }

    private boolean isLive(int row) {
        return !deleted.contains(row);
    }

    private static boolean isPython(int row) {
        return PACKAGES.packages().get(row).section().equals("python");
    }

    private static List<float[]> queries() {
        return PACKAGES.phrases().stream()
                .limit(80)
                .map(DebianPackages.Query::vector)
                .toList();
    }

    @Test
    void anExactTableFindsTheNearestLiveDocuments() throws IOException {
        for (float[] query : queries()) {
            assertThat(hits(searcher, new RoostKnnQuery(exact, query, K), 2 * K))
                    .isEqualTo(nearest(query, K, this::isLive));
        }
    }

    @Test
    void anExactTableFindsTheNearestThatAFilterMatches() throws IOException {
        Query python = PackageIndex.section("python");
        for (float[] query : queries()) {
            assertThat(hits(searcher, new RoostKnnQuery(exact, query, K, python), 2 * K))
                    .isEqualTo(nearest(query, K, row -> isLive(row) && isPython(row)));
        }
    }

    @Test
    void anHnswTableFindsAlmostAllOfTheNearestAndScoresThemAsLuceneDoes() throws IOException {
        int found = 0;
        int byLucene = 0;
        for (float[] query : queries()) {
            List<Hit> truth = nearest(query, K, this::isLive);
            found += shared(hits(searcher, new RoostKnnQuery(graph, query, K), 2 * K), truth);
            byLucene += shared(hits(searcher, new KnnFloatVectorQuery(PackageIndex.VECTOR, query, K), K), truth);
        }
        int all = K * queries().size();
        assertThat(found).isGreaterThan(all * 97 / 100);
        assertThat(byLucene).isGreaterThan(all * 90 / 100);
    }

    @Test
    void anHnswTableFindsAlmostAllThatAFilterMatches() throws IOException {
        int found = 0;
        for (float[] query : queries()) {
            List<Hit> hits = hits(searcher, new RoostKnnQuery(graph, query, K, PackageIndex.section("python")), 2 * K);
            assertThat(hits).hasSize(K).allMatch(hit -> isPython((int) hit.row()));
            found += shared(hits, nearest(query, K, row -> isLive(row) && isPython(row)));
        }
        assertThat(found).isGreaterThan(K * queries().size() * 97 / 100);
    }

    /** Hits in common, scores included. */
    private static int shared(List<Hit> one, List<Hit> other) {
        return (int) one.stream().filter(other::contains).count();
    }

    @Test
    void itFindsTheSameWhenSegmentsAreSearchedAtHome() throws IOException {
        IndexSearcher atHome = new SegmentHomes(orchestrator, "packages").searcher(reader);
        Query query = new BooleanQuery.Builder()
                .add(PackageIndex.words("python library"), Occur.SHOULD)
                .add(new RoostKnnQuery(exact, queries().getFirst(), K), Occur.SHOULD)
                .build();
        assertThat(hits(atHome, query, 50)).isEqualTo(hits(searcher, query, 50)).hasSize(50);
    }

    @Test
    void itIsAClauseLikeAnyOther() throws IOException {
        float[] target = queries().getFirst();
        int k = 300;
        Query near = new RoostKnnQuery(exact, target, k);
        List<Hit> nearPython = nearest(target, k, this::isLive).stream()
                .filter(hit -> isPython((int) hit.row()))
                .toList();
        assertThat(nearPython).isNotEmpty();
        assertThat(hits(searcher, and(near, Occur.FILTER, PackageIndex.section("python")), k))
                .isEqualTo(nearPython);
        assertThat(hits(searcher, and(near, Occur.MUST_NOT, PackageIndex.section("python")), k))
                .hasSize(k - nearPython.size())
                .doesNotContainAnyElementsOf(nearPython);
        assertThat(searcher.count(near)).isEqualTo(k);
    }

    private static Query and(Query near, Occur occur, Query other) {
        return new BooleanQuery.Builder()
                .add(near, Occur.MUST)
                .add(other, occur)
                .build();
    }

    @Test
    void aBoostMultipliesItsScoresAndItExplainsThem() throws IOException {
        Query near = new RoostKnnQuery(exact, queries().getFirst(), K);
        ScoreDoc[] plain = searcher.search(near, K).scoreDocs;
        Query boosted = new BoostQuery(near, 3);
        ScoreDoc[] hits = searcher.search(boosted, K).scoreDocs;
        for (int i = 0; i < K; i++) {
            assertThat(hits[i].doc).isEqualTo(plain[i].doc);
            assertThat(hits[i].score).isEqualTo(3 * plain[i].score);
            assertThat(searcher.explain(boosted, hits[i].doc).getValue()).isEqualTo(hits[i].score);
        }
        Set<Integer> found =
                new HashSet<>(Arrays.stream(hits).map(hit -> hit.doc).toList());
        int other = IntStream.range(0, K + 1)
                .filter(doc -> !found.contains(doc))
                .findFirst()
                .orElseThrow();
        assertThat(searcher.explain(boosted, other).isMatch()).isFalse();
    }

    @Test
    void aFilterThatMatchesNothingFindsNothingAndOneThatMatchesAllChangesNothing() throws IOException {
        float[] target = queries().getFirst();
        assertThat(searcher.search(new RoostKnnQuery(exact, target, K, MatchNoDocsQuery.INSTANCE), K).scoreDocs)
                .isEmpty();
        assertThat(searcher.search(new RoostKnnQuery(graph, target, K, PackageIndex.section("none")), K).scoreDocs)
                .isEmpty();
        assertThat(hits(searcher, new RoostKnnQuery(exact, target, K, MatchAllDocsQuery.INSTANCE), K))
                .isEqualTo(nearest(target, K, this::isLive));
    }

    @Test
    void rowsWithoutADocumentAndDocumentsWithoutARowAreNotFound() throws IOException {
        IvfTable evenRows = IvfTable.builder()
                .nlist(8)
                .build(
                        orchestrator,
                        IntStream.range(0, PACKAGES.vectors().length)
                                .filter(row -> row % 2 == 0)
                                .asLongStream()
                                .toArray(),
                        IntStream.range(0, PACKAGES.vectors().length)
                                .filter(row -> row % 2 == 0)
                                .mapToObj(row -> PACKAGES.vectors()[row])
                                .toArray(float[][]::new));
        Query near = new RoostKnnQuery(
                RoostTable.of(evenRows, 8, PackageIndex.ROW), queries().getFirst(), K);
        assertThat(hits(searcher, near, K))
                .isEqualTo(nearest(queries().getFirst(), K, row -> isLive(row) && row % 2 == 0));
    }

    @Test
    void aLiveTableIsSearchedAsItIsNow() throws IOException {
        long[] ids = IntStream.range(0, 200).asLongStream().toArray();
        try (LiveTable live = LiveTable.builder().build(orchestrator, ids, Arrays.copyOf(PACKAGES.vectors(), 200))) {
            RoostTable table = RoostTable.of(live, 300, PackageIndex.ROW);
            for (int row = 200; row < 300; row++) {
                live.put(row, PACKAGES.vectors()[row]);
            }
            for (int row = 0; row < 20; row++) {
                live.remove(row);
            }
            for (float[] query : queries().subList(0, 20)) {
                List<Hit> truth = nearest(query, K, row -> isLive(row) && row >= 20 && row < 300);
                assertThat(hits(searcher, new RoostKnnQuery(table, query, K), 2 * K))
                        .extracting(Hit::score)
                        .isEqualTo(truth.stream().map(Hit::score).toList());
            }
            Query narrow = new RoostKnnQuery(
                    RoostTable.of(live, 1, PackageIndex.ROW), queries().getFirst(), K);
            assertThat(hits(searcher, narrow, 2 * K)).hasSize(K);
            assertThatThrownBy(() -> RoostTable.of(live, 0, PackageIndex.ROW))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("effort must be between 1 and 100,000, got 0");
        }
    }

    @Test
    void otherMetricsScoreAsLuceneDoes() throws IOException {
        float[] a = {1, 2, -3};
        float[] b = {4, -1, 2};
        float product = 4 - 2 - 6;
        float cosine = product / (float) Math.sqrt(14 * 21);
        assertThat(scoreOf(Metric.COSINE, 1 - cosine)).isEqualTo((1 + cosine) / 2);
        assertThat(VectorSimilarityFunction.COSINE.compare(a, b)).isEqualTo((1 + cosine) / 2, within(1e-6f));
        assertThat(scoreOf(Metric.INNER_PRODUCT, -product))
                .isEqualTo(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT.compare(a, b));
        assertThat(scoreOf(Metric.INNER_PRODUCT, product))
                .isEqualTo(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT.compare(new float[] {-1, -2, 3}, b));
    }

    private float scoreOf(Metric metric, float distance) {
        try (IvfTable table =
                IvfTable.builder().metric(metric).nlist(1).build(orchestrator, new float[][] {{1, 2, -3}})) {
            return RoostTable.of(table, 1, PackageIndex.ROW).score(distance);
        }
    }

    @Test
    void equalQueriesAreEqual() {
        float[] target = queries().getFirst();
        Query filter = PackageIndex.section("python");
        Query query = new RoostKnnQuery(exact, target, K, filter);
        assertThat(query)
                .isEqualTo(new RoostKnnQuery(exact, target.clone(), K, PackageIndex.section("python")))
                .hasSameHashCodeAs(new RoostKnnQuery(exact, target.clone(), K, PackageIndex.section("python")))
                .isNotEqualTo(new RoostKnnQuery(exact, target, K))
                .isNotEqualTo(new RoostKnnQuery(exact, target, K + 1, filter))
                .isNotEqualTo(new RoostKnnQuery(graph, target, K, filter))
                .isNotEqualTo(new RoostKnnQuery(exact, queries().get(1), K, filter))
                .isNotEqualTo(filter)
                .hasToString("RoostKnnQuery:ivf[" + target[0] + ",...][10][section:python]");
    }

    @Test
    void aVisitorOfItsFieldSeesIt() {
        Query query = new RoostKnnQuery(exact, queries().getFirst(), K);
        List<Query> seen = new ArrayList<>();
        query.visit(new QueryVisitor() {
            @Override
            public boolean acceptField(String field) {
                return field.equals(PackageIndex.ROW);
            }

            @Override
            public void visitLeaf(Query leaf) {
                seen.add(leaf);
            }
        });
        assertThat(seen).containsExactly(query);
    }

    @Test
    void whatATableCannotAnswerIsSaidAtOnce() {
        assertThatThrownBy(() -> new RoostKnnQuery(exact, new float[3], K))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("query must have 128 dimensions, got 3");
        assertThatThrownBy(() -> new RoostKnnQuery(exact, queries().getFirst(), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("k must be between 1 and 10,000, got 0");
    }

    @Test
    void documentsFoundInOneReaderAreNotSearchedInAnother() throws IOException {
        Query found = searcher.rewrite(new RoostKnnQuery(exact, queries().getFirst(), K));
        try (DirectoryReader other = DirectoryReader.open(directory)) {
            assertThatThrownBy(() -> new IndexSearcher(other).search(found, K))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("another");
        }
    }

    @Test
    void twoDocumentsOfOneRowAreRefused() throws IOException {
        try (Directory twice = Packages.index()) {
            try (IndexWriter writer = writer(twice)) {
                Document again = PackageIndex.document(PACKAGES, 7);
                writer.addDocument(again);
            }
            try (DirectoryReader both = DirectoryReader.open(twice)) {
                assertThatThrownBy(() -> new IndexSearcher(both)
                                .search(new RoostKnnQuery(exact, queries().getFirst(), K), K))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("live documents must differ in row, got 7 for documents 7 and ");
            }
        }
    }

    @Test
    void searchersSeeTheirOwnReaderWhileDocumentsAreDeleted() throws Exception {
        int clients = 4;
        AtomicBoolean done = new AtomicBoolean();
        try (Directory changing = Packages.index();
                IndexWriter writer = writer(changing);
                ExecutorService pool = Executors.newFixedThreadPool(clients)) {
            try (SearcherManager manager = new SearcherManager(writer, new SearcherFactory())) {
                int before = exact.readers();
                List<Future<Integer>> searches = new ArrayList<>();
                for (int client = 0; client < clients; client++) {
                    searches.add(pool.submit(client(manager, done, client)));
                }
                float[] target = queries().getFirst();
                List<Hit> victims = nearest(target, 100, row -> true);
                for (Hit victim : victims) {
                    writer.deleteDocuments(PackageIndex.row((int) victim.row()));
                    manager.maybeRefreshBlocking();
                }
                done.set(true);
                for (Future<Integer> search : searches) {
                    assertThat(search.get()).isPositive();
                }
                IndexSearcher last = manager.acquire();
                assertThat(hits(last, new RoostKnnQuery(exact, target, K), K))
                        .isEqualTo(nearest(target, 100 + K, row -> true).subList(100, 100 + K));
                manager.release(last);
                assertThat(exact.readers()).isLessThanOrEqualTo(before + 1);
            }
        }
    }

    /** Searches until done, each time comparing with what its reader holds: the deleted are always the nearest ones. */
    private Callable<Integer> client(SearcherManager manager, AtomicBoolean done, int number) {
        return () -> {
            float[] target = queries().getFirst();
            List<Hit> truth = nearest(target, 100 + K, row -> true);
            int searched = 0;
            do {
                IndexSearcher current = manager.acquire();
                try {
                    int gone = current.getIndexReader().numDeletedDocs();
                    RoostTable table = number % 2 == 0 ? exact : graph;
                    List<Hit> hits = hits(current, new RoostKnnQuery(table, target, K), K);
                    assertThat(hits).hasSize(K).noneMatch(truth.subList(0, gone)::contains);
                    if (table == exact) {
                        assertThat(hits).isEqualTo(truth.subList(gone, gone + K));
                    }
                    searched++;
                } finally {
                    manager.release(current);
                }
            } while (!done.get());
            return searched;
        };
    }
}
