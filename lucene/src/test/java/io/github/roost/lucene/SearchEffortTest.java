package io.github.roost.lucene;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.PatienceKnnVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SeededKnnVectorQuery;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Strategies of Lucene's queries in a segment that has a graph. */
class SearchEffortTest {
    private static final int DOCUMENTS = 3_000;
    private static final int DIMENSION = 16;
    private static final int K = 10;
    private static final Query SOME = IntPoint.newRangeQuery("number", 0, DOCUMENTS * 2 / 3);
    private static final Query SEEDS = IntPoint.newRangeQuery("number", 100, 120);

    private static final Directory DIRECTORY = new ByteBuffersDirectory();
    private static final Random RANDOM = new Random(1);
    private static DirectoryReader reader;

    @BeforeAll
    static void write() throws IOException {
        try (IndexWriter writer = new IndexWriter(DIRECTORY, new IndexWriterConfig().setCodec(Written.GRAPH.codec()))) {
            for (int i = 0; i < DOCUMENTS; i++) {
                Document document = new Document();
                document.add(new KnnFloatVectorField("vector", gaussian(DIMENSION, RANDOM)));
                document.add(new IntPoint("number", i));
                writer.addDocument(document);
            }
        }
        reader = DirectoryReader.open(DIRECTORY);
    }

    @AfterAll
    static void close() throws IOException {
        reader.close();
        DIRECTORY.close();
    }

    private static KnnFloatVectorQuery query(float[] target, @Nullable Query filter, KnnSearchStrategy strategy) {
        return new KnnFloatVectorQuery("vector", target, K, filter, strategy);
    }

    private static List<ScoreDoc> hits(Query query) throws IOException {
        return Arrays.asList(new IndexSearcher(reader).search(query, K).scoreDocs);
    }

    /** The same documents, of the same scores. */
    private static void assertSame(List<ScoreDoc> found, List<ScoreDoc> expected) {
        assertThat(found).hasSize(K).usingRecursiveComparison().isEqualTo(expected);
    }

    /** Of two widths one of which finds more, so that a query that lost its width would show. */
    @ParameterizedTest
    @ValueSource(ints = {K, 200})
    void lucenesHintsChangeNoHits(int width) throws IOException {
        for (int i = 0; i < 20; i++) {
            float[] target = gaussian(DIMENSION, RANDOM);
            for (Query filter : Arrays.asList(null, SOME)) {
                KnnFloatVectorQuery plain = query(target, filter, new SearchEffort(width));
                List<ScoreDoc> expected = hits(plain);
                SeededKnnVectorQuery seeded = SeededKnnVectorQuery.fromFloatQuery(plain, SEEDS);
                assertSame(hits(seeded), expected);
                assertSame(hits(SeededKnnVectorQuery.fromFloatQuery(plain, MatchNoDocsQuery.INSTANCE)), expected);
                assertSame(hits(PatienceKnnVectorQuery.fromFloatQuery(plain, .5, 1)), expected);
                assertSame(hits(PatienceKnnVectorQuery.fromSeededQuery(seeded, .5, 1)), expected);
            }
        }
    }

    @Test
    void everyStrategyOfLucenesHasTheWidthOfItsDefault() throws IOException {
        for (Query filter : Arrays.asList(null, SOME)) {
            float[] target = gaussian(DIMENSION, RANDOM);
            KnnFloatVectorQuery byDefault = query(target, filter, KnnSearchStrategy.Hnsw.DEFAULT);
            List<ScoreDoc> expected = hits(byDefault);
            assertSame(hits(new KnnFloatVectorQuery("vector", target, K, filter)), expected);
            assertSame(hits(query(target, filter, new KnnSearchStrategy.Hnsw(0))), expected);
            assertSame(hits(query(target, filter, new KnnSearchStrategy.Hnsw(100))), expected);
            assertSame(hits(PatienceKnnVectorQuery.fromFloatQuery(byDefault, .5, 1)), expected);
        }
    }

    @Test
    void aLargerWidthFindsMore() throws IOException {
        List<ScoreDoc> narrow = new ArrayList<>();
        List<ScoreDoc> wide = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            float[] target = gaussian(DIMENSION, RANDOM);
            narrow.addAll(hits(query(target, null, new SearchEffort(K))));
            wide.addAll(hits(query(target, null, new SearchEffort(200))));
        }
        assertThat(wide.stream().mapToDouble(hit -> hit.score).sum())
                .isGreaterThan(narrow.stream().mapToDouble(hit -> hit.score).sum());
    }
}
