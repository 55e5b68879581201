package io.github.roost.lucene;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats.TableStats;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FieldExistsQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Batches of searches of a field against one query per target. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FieldBatchTest {
    private static final int DIMENSION = 16;
    private static final int K = 10;
    /** One segment with a graph, one with neither codes nor a graph, one with codes, one without vectors. */
    private static final List<Integer> SEGMENTS = List.of(1_500, 300, 1_100, 50);

    private final float[][] targets = new float[20][];

    private Directory directory;
    private DirectoryReader reader;
    private DirectoryReader lucenes;
    private Directory inLucenesFormat;

    @BeforeAll
    void write(@TempDir Path folder) throws IOException {
        Random random = new Random(1);
        Arrays.setAll(targets, i -> vector(random));
        directory = new MMapDirectory(folder.resolve("roost"));
        write(
                directory,
                new RoostCodec(
                        new RoostVectorsFormat(16, 100, new MinSizes(900, 1_200, 1_200), GraphBuilds.IN_CALLER)));
        reader = DirectoryReader.open(directory);
        inLucenesFormat = new MMapDirectory(folder.resolve("lucene"));
        write(inLucenesFormat, Codec.getDefault());
        lucenes = DirectoryReader.open(inLucenesFormat);
    }

    @AfterAll
    void close() throws IOException {
        reader.close();
        lucenes.close();
        directory.close();
        inLucenesFormat.close();
    }

    private static float[] vector(Random random) {
        return gaussian(DIMENSION, random);
    }

    private static void write(Directory directory, Codec codec) throws IOException {
        Random random = new Random(2);
        try (IndexWriter writer = new IndexWriter(
                directory, new IndexWriterConfig().setCodec(codec).setMergePolicy(NoMergePolicy.INSTANCE))) {
            int number = 0;
            for (int documents : SEGMENTS) {
                for (int i = 0; i < documents; i++) {
                    Document document = new Document();
                    // Every seventh has no vector, and the smallest segment has none.
                    if (documents != 50 && number % 7 != 0) {
                        document.add(new KnnFloatVectorField("vector", vector(random)));
                    }
                    document.add(new IntPoint("number", number));
                    document.add(new StringField("id", Integer.toString(number), Field.Store.NO));
                    writer.addDocument(document);
                    number++;
                }
                writer.flush();
            }
            for (int deleted = 0; deleted < number; deleted += 11) {
                writer.deleteDocuments(new Term("id", Integer.toString(deleted)));
            }
        }
    }

    /** Filters that allow all documents, most, few (all segments are scanned), fewer than k, none. */
    @ParameterizedTest
    @CsvSource({"-1,10,10", "2500,10,20", "2500,100,10", "400,10,40", "120,10,10", "5,10,10", "0,10,10", "-1,2000,10"})
    void aBatchHasTheHitsOfOneQueryPerTarget(int below, int k, int effort) throws IOException {
        Query filter = below < 0 ? null : IntPoint.newRangeQuery("number", 0, below - 1);
        assertSame(new IndexSearcher(reader), k, effort, filter);
        assertSame(new IndexSearcher(lucenes), k, effort, filter);
    }

    @Test
    void aBatchRunsInTheSearchersExecutor() throws IOException {
        try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
            IndexSearcher parallel = new IndexSearcher(reader, threads);
            assertSame(parallel, K, 200, null);
            assertSame(parallel, K, 200, IntPoint.newRangeQuery("number", 200, 330));
        }
    }

    @Test
    void aScanRunsAtHomeAndIsCountedOnce() throws IOException {
        try (Orchestrator orchestrator = Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .build()) {
            IndexSearcher atHome = new SegmentHomes(orchestrator, "birds").searcher(reader);
            Query few = IntPoint.newRangeQuery("number", 200, 330);
            List<TopDocs> found = RoostKnnQuery.batch(atHome, "vector", targets, K, K, few);
            assertThat(found).hasSameSizeAs(targets);
            int matching = new IndexSearcher(reader)
                    .count(new BooleanQuery.Builder()
                            .add(few, BooleanClause.Occur.FILTER)
                            .add(new FieldExistsQuery("vector"), BooleanClause.Occur.FILTER)
                            .build());
            assertThat(orchestrator.stats().tables().stream()
                            .mapToLong(TableStats::trafficBytes)
                            .sum())
                    .isEqualTo((long) matching * DIMENSION * Float.BYTES);
            assertSame(atHome, K, 200, few);
        }
    }

    @Test
    void whatASearcherWithATimeoutFindsInTimeIsTheSame() throws IOException {
        IndexSearcher searcher = new IndexSearcher(reader);
        searcher.setTimeout(() -> false);
        assertSame(searcher, K, K, IntPoint.newRangeQuery("number", 200, 330));
    }

    @Test
    void aFieldThatAReaderHidesHasNoHits() throws IOException {
        for (DirectoryReader each : List.of(reader, lucenes, RoostReader.over(reader), RoostReader.over(lucenes))) {
            for (DirectoryReader hiding :
                    List.of(FilteredReader.hiding(each), RoostReader.over(FilteredReader.hiding(each)))) {
                IndexSearcher searcher = new IndexSearcher(hiding);
                assertThat(RoostKnnQuery.batch(searcher, "vector", targets, K, K, null))
                        .hasSameSizeAs(targets)
                        .allMatch(hits -> hits.scoreDocs.length == 0);
                assertSame(searcher, K, K, IntPoint.newRangeQuery("number", 0, 100));
            }
        }
    }

    @Test
    void aReaderThatCountsSeesTheSearchesOfABatch() throws IOException {
        AtomicInteger searches = new AtomicInteger();
        IndexSearcher searcher = new IndexSearcher(FilteredReader.counting(reader, searches));
        Query few = IntPoint.newRangeQuery("number", 200, 1_600);
        for (float[] target : targets) {
            searcher.search(new KnnFloatVectorQuery("vector", target, K, few, new SearchEffort(K)), K);
        }
        int expected = searches.getAndSet(0);
        RoostKnnQuery.batch(searcher, "vector", targets, K, K, few);
        assertThat(searches).hasValue(expected).hasPositiveValue();
    }

    private void assertSame(IndexSearcher searcher, int k, int effort, @Nullable Query filter) throws IOException {
        List<TopDocs> found = RoostKnnQuery.batch(searcher, "vector", targets, k, effort, filter);
        assertThat(found).hasSameSizeAs(targets);
        for (int i = 0; i < targets.length; i++) {
            Query single = new KnnFloatVectorQuery("vector", targets[i], k, filter, new SearchEffort(effort));
            ScoreDoc[] expected = searcher.search(single, k).scoreDocs;
            assertThat(found.get(i).scoreDocs).extracting(hit -> hit.doc).isEqualTo(documents(expected));
            for (int hit = 0; hit < expected.length; hit++) {
                // Lucene scores a vector alone and among others with different kernels.
                assertThat(found.get(i).scoreDocs[hit].score).isCloseTo(expected[hit].score, within(1e-6f));
            }
        }
    }

    private static List<Integer> documents(ScoreDoc[] hits) {
        return Arrays.stream(hits).map(hit -> hit.doc).toList();
    }

    /** One scan of the small segment for all targets, and one evaluation of the filter per segment. */
    @Test
    void aFilterIsEvaluatedOncePerSegment() throws IOException {
        IndexSearcher searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
        CountedFilter filter = new CountedFilter(IntPoint.newRangeQuery("number", 0, 399));
        RoostKnnQuery.batch(searcher, "vector", targets, K, K, filter);
        assertThat(filter.evaluations()).isEqualTo(SEGMENTS.size());
    }

    @Test
    void badInputIsOneClearError() {
        IndexSearcher searcher = new IndexSearcher(reader);
        assertThatThrownBy(() -> RoostKnnQuery.batch(searcher, "vector", targets, 0, K, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("k must be between 1 and 10,000, got 0");
        assertThatThrownBy(() -> RoostKnnQuery.batch(searcher, "vector", targets, K, 0, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got 0");
        assertThatThrownBy(() -> RoostKnnQuery.batch(searcher, "vector", new float[][] {{1, 2}, {3, 4}}, K, K, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got a query of 2");
        assertThatThrownBy(() -> RoostKnnQuery.batch(searcher, "vector", new float[][] {{Float.NaN}}, K, K, null))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void noTargetHasNoHits() throws IOException {
        assertThat(RoostKnnQuery.batch(new IndexSearcher(reader), "vector", new float[0][], K, K, null))
                .isEmpty();
        assertThat(Stream.of(RoostKnnQuery.batch(new IndexSearcher(reader), "nothing", targets, K, K, null))
                        .flatMap(List::stream))
                .hasSameSizeAs(targets)
                .allMatch(hits -> hits.scoreDocs.length == 0);
    }
}
