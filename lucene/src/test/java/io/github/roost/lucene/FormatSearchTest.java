package io.github.roost.lucene;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.apache.lucene.index.VectorEncoding.FLOAT32;
import static org.apache.lucene.index.VectorSimilarityFunction.COSINE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.FloatVectorSimilarityQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Searches of segments that have graphs, or codes alone, by Lucene's own queries, against comparing everything. */
@Tag("stress")
@ParameterizedClass
@EnumSource
class FormatSearchTest {
    private static final int DOCUMENTS = 2_200;
    private static final int DIMENSION = 20;
    private static final int K = 10;
    private static final int QUERIES = 20;
    private static final String FIELD = "vector";

    private final Written written;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    FormatSearchTest(Written written) {
        this.written = written;
    }

    /** Document {@code i} has vector {@code i}, or none where that is null; some of them are deleted. */
    private record Documents(float[][] vectors, VectorEncoding encoding, VectorSimilarityFunction similarity) {
        float score(int document, float[] query) {
            return encoding == VectorEncoding.BYTE
                    ? similarity.compare(bytes(vectors[document]), bytes(query))
                    : similarity.compare(vectors[document], query);
        }

        Query query(float[] vector, int k, @Nullable Query filter) {
            SearchEffort effort = new SearchEffort(150);
            return encoding == VectorEncoding.BYTE
                    ? new KnnByteVectorQuery(FIELD, bytes(vector), k, filter, effort)
                    : new KnnFloatVectorQuery(FIELD, vector, k, filter, effort);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "EUCLIDEAN,FLOAT32,true", "DOT_PRODUCT,FLOAT32,true", "COSINE,FLOAT32,true",
                "MAXIMUM_INNER_PRODUCT,FLOAT32,true",
        "EUCLIDEAN,BYTE,true", "DOT_PRODUCT,BYTE,true", "COSINE,BYTE,true", "MAXIMUM_INNER_PRODUCT,BYTE,true",
        "EUCLIDEAN,FLOAT32,false", "COSINE,BYTE,false"
    })
    void theNearestAreFoundWithLucenesScores(
            VectorSimilarityFunction similarity, VectorEncoding encoding, boolean mapped) throws IOException {
        Random random = new Random(1);
        Documents documents = new Documents(vectors(random, encoding, similarity), encoding, similarity);
        try (Directory directory = mapped ? new MMapDirectory(folder) : new ByteBuffersDirectory()) {
            write(documents, directory, 2);
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                assertFinds(documents, searcher, null, document -> true, random);
                assertFinds(documents, searcher, kind(0), document -> document % 3 == 0, random);
            }
        }
    }

    @Test
    void deletedDocumentsAreNotFound() throws IOException {
        Random random = new Random(2);
        Documents documents = floats(random);
        try (Directory directory = new MMapDirectory(folder)) {
            write(documents, directory, 1);
            try (IndexWriter writer = new IndexWriter(directory, config())) {
                writer.deleteDocuments(kind(1));
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                assertThat(reader.hasDeletions()).isTrue();
                IndexSearcher searcher = new IndexSearcher(reader);
                assertFinds(documents, searcher, null, document -> document % 3 != 1, random);
                assertFinds(documents, searcher, kind(2), document -> document % 3 == 2, random);
            }
        }
    }

    /** A merge begins with the graphs of its segments, of which one has lost documents. */
    @Test
    void whatWasMergedIsFound() throws IOException {
        Random random = new Random(3);
        Documents documents = floats(random);
        try (Directory directory = new MMapDirectory(folder)) {
            write(documents, directory, 2);
            try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig().setCodec(written.codec()))) {
                writer.deleteDocuments(new Term("id", "5"));
                writer.forceMerge(1);
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                assertThat(reader.leaves()).hasSize(1);
                float[] query = documents.vectors()[4].clone();
                ScoreDoc first = new IndexSearcher(reader).search(documents.query(query, K, null), K).scoreDocs[0];
                assertThat(first.score).isEqualTo(documents.score(4, query));
            }
        }
    }

    @Test
    void allAboveAScoreAreFound() throws IOException {
        Random random = new Random(4);
        Documents documents = floats(random);
        try (Directory directory = new MMapDirectory(folder)) {
            write(documents, directory, 1);
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                int found = 0;
                int expected = 0;
                for (int i = 0; i < 20; i++) {
                    float[] query = vector(random);
                    List<Integer> nearest = nearest(documents, query, document -> true, 40);
                    float min = documents.score(nearest.getLast(), query);
                    ScoreDoc[] hits =
                            searcher.search(new FloatVectorSimilarityQuery(FIELD, query, min), DOCUMENTS).scoreDocs;
                    assertThat(hits).allMatch(hit -> hit.score >= min).doesNotHaveDuplicates();
                    found += hits.length;
                    expected += nearest.size();
                }
                assertThat(found).isBetween((int) (.9 * expected), expected + 5);
            }
        }
    }

    @Test
    void documentsWithoutAVectorAreNotFound() throws IOException {
        Random random = new Random(5);
        Documents documents = floats(random);
        for (int document = 0; document < DOCUMENTS; document += 4) {
            documents.vectors()[document] = null;
        }
        try (Directory directory = new MMapDirectory(folder)) {
            write(documents, directory, 1);
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                assertFinds(documents, searcher, null, document -> document % 4 != 0, random);
                assertFinds(documents, searcher, kind(2), document -> document % 4 != 0 && document % 3 == 2, random);
            }
        }
    }

    /** A vector this short has a squared length of 0, and Lucene's cosine with it is NaN. */
    @Test
    void aVectorWithoutACosineIsOneClearErrorAndTheOtherDocumentsAreKept() throws IOException {
        float[] tiny = new float[DIMENSION];
        Arrays.fill(tiny, 1e-30f);
        try (Directory directory = new MMapDirectory(folder);
                IndexWriter writer = new IndexWriter(directory, config())) {
            writer.addDocument(List.of(new KnnFloatVectorField(FIELD, vector(new Random(7)), COSINE)));
            assertThatThrownBy(() -> writer.addDocument(List.of(new KnnFloatVectorField(FIELD, tiny, COSINE))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(
                            "field \"vector\" has similarity COSINE, so its vectors must have a length whose square is a"
                                    + " positive float, got [1.0E-30, 1.0E-30, 1.0E-30, ...]");
            writer.commit();
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                assertThat(reader.numDocs()).isEqualTo(1);
            }
        }
    }

    @Test
    void aVectorOfAnotherDimensionOrWithoutNumbersIsOneClearErrorAndTheOtherDocumentsAreKept() throws IOException {
        float[] vector = vector(new Random(9));
        float[] notANumber = vector.clone();
        notANumber[3] = Float.NaN;
        try (Directory directory = new MMapDirectory(folder);
                IndexWriter writer = new IndexWriter(directory, config())) {
            writer.addDocument(List.of(new KnnFloatVectorField(FIELD, vector)));
            assertThatThrownBy(() -> writer.addDocument(List.of(new KnnFloatVectorField(FIELD, new float[] {1, 2}))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("vector")
                    .hasMessageContaining("2");
            assertThatThrownBy(() -> writer.addDocument(List.of(new KnnFloatVectorField(FIELD, notANumber))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("non-finite value at vector[3]=NaN");
            assertThatThrownBy(() -> new KnnFloatVectorQuery(FIELD, notANumber, K))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("non-finite value at vector[3]=NaN");
            writer.addDocument(List.of(new KnnFloatVectorField(FIELD, vector)));
            writer.commit();
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                assertThat(reader.numDocs()).isEqualTo(2);
                assertThat(new IndexSearcher(reader).search(new KnnFloatVectorQuery(FIELD, vector, K), K).scoreDocs)
                        .hasSize(2);
            }
        }
    }

    /** All scores are NaN in Lucene's similarity function. */
    @Test
    void aQueryWithoutACosineFindsAnyDocumentsAndIsNoScan() throws IOException {
        Random random = new Random(8);
        Documents documents = new Documents(vectors(random, FLOAT32, COSINE), FLOAT32, COSINE);
        try (Directory directory = new MMapDirectory(folder)) {
            write(documents, directory, 1);
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                assertThat(visited(reader, new float[DIMENSION]))
                        .isLessThan(written == Written.GRAPH ? DOCUMENTS / 2 : DOCUMENTS + 1);
                ScoreDoc[] all = new IndexSearcher(reader)
                        .search(documents.query(new float[DIMENSION], DOCUMENTS, null), DOCUMENTS)
                        .scoreDocs;
                assertThat(all).hasSize(DOCUMENTS).allMatch(hit -> hit.score == 0);
            }
        }
    }

    private static long visited(DirectoryReader reader, float[] query) throws IOException {
        LeafReader segment = reader.leaves().getFirst().reader();
        TopKnnCollector collector = new TopKnnCollector(K, Integer.MAX_VALUE, new SearchEffort(2 * K));
        segment.searchNearestVectors(FIELD, query, collector, AcceptDocs.fromLiveDocs(null, segment.maxDoc()));
        assertThat(collector.topDocs().scoreDocs).hasSize(K).allMatch(hit -> hit.score >= 0);
        return collector.visitedCount();
    }

    @Test
    void aQueryOfAnotherDimensionIsOneClearError() throws IOException {
        Documents documents = floats(new Random(6));
        try (Directory directory = new MMapDirectory(folder)) {
            write(documents, directory, 1);
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                assertThatThrownBy(() -> searcher.search(new KnnFloatVectorQuery(FIELD, new float[] {1, 2}, K), K))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("got a query of 2");
            }
        }
    }

    @Test
    void sizesOutOfRangeAreRefused() {
        assertThatThrownBy(() -> new RoostVectorsFormat(0, 100)).hasMessageContaining("between 1 and 256, got 0");
        assertThatThrownBy(() -> new RoostVectorsFormat(16, 3_201)).hasMessageContaining("3,200, got 3,201");
        assertThatThrownBy(() -> new SearchEffort(0)).hasMessageContaining("got 0");
    }

    private interface Wanted {
        boolean test(int document);
    }

    private void assertFinds(
            Documents documents, IndexSearcher searcher, @Nullable Query filter, Wanted wanted, Random random)
            throws IOException {
        int found = 0;
        for (int i = 0; i < QUERIES; i++) {
            float[] query = documents.vectors()[4 * i + 1].clone();
            query[0] += random.nextInt(2);
            Set<Float> scores = new HashSet<>();
            for (int document : nearest(documents, query, wanted, K)) {
                scores.add(documents.score(document, query));
            }
            ScoreDoc[] hits = searcher.search(documents.query(query, K, filter), K).scoreDocs;
            assertThat(hits).hasSize(K);
            for (ScoreDoc hit : hits) {
                assertThat(wanted.test(hit.doc)).isTrue();
                assertThat(hit.score).isCloseTo(documents.score(hit.doc, query), within(1e-5f * (1 + hit.score)));
                found += scores.contains(documents.score(hit.doc, query)) ? 1 : 0;
            }
        }
        assertThat(found).isGreaterThanOrEqualTo((int) ((written == Written.GRAPH ? .93 : .99) * QUERIES * K));
    }

    private static List<Integer> nearest(Documents documents, float[] query, Wanted wanted, int k) {
        List<Integer> all = new ArrayList<>();
        float[] scores = new float[DOCUMENTS];
        for (int document = 0; document < DOCUMENTS; document++) {
            if (documents.vectors()[document] != null && wanted.test(document)) {
                all.add(document);
                scores[document] = documents.score(document, query);
            }
        }
        all.sort((a, b) -> Float.compare(scores[b], scores[a]));
        return all.subList(0, k);
    }

    private IndexWriterConfig config() {
        return new IndexWriterConfig().setCodec(written.codec()).setMergePolicy(NoMergePolicy.INSTANCE);
    }

    private void write(Documents documents, Directory directory, int segments) throws IOException {
        try (IndexWriter writer = new IndexWriter(directory, config())) {
            for (int document = 0; document < DOCUMENTS; document++) {
                Document added = new Document();
                float[] vector = documents.vectors()[document];
                if (vector != null) {
                    added.add(
                            documents.encoding() == VectorEncoding.BYTE
                                    ? new KnnByteVectorField(FIELD, bytes(vector), documents.similarity())
                                    : new KnnFloatVectorField(FIELD, vector, documents.similarity()));
                }
                added.add(new StringField("kind", Integer.toString(document % 3), Field.Store.NO));
                added.add(new StringField("id", Integer.toString(document), Field.Store.NO));
                writer.addDocument(added);
                if ((document + 1) % (DOCUMENTS / segments) == 0) {
                    writer.flush();
                }
            }
        }
    }

    private static Query kind(int kind) {
        return new TermQuery(new Term("kind", Integer.toString(kind)));
    }

    private static Documents floats(Random random) {
        return new Documents(
                vectors(random, VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN),
                VectorEncoding.FLOAT32,
                VectorSimilarityFunction.EUCLIDEAN);
    }

    private static float[][] vectors(Random random, VectorEncoding encoding, VectorSimilarityFunction similarity) {
        float[][] vectors = new float[DOCUMENTS][];
        Arrays.setAll(vectors, document -> vector(random));
        for (float[] vector : vectors) {
            double length = 0;
            for (float value : vector) {
                length += value * value;
            }
            for (int i = 0; i < DIMENSION; i++) {
                // Dot products are of vectors of one length, by contract.
                float scale = similarity == VectorSimilarityFunction.DOT_PRODUCT ? (float) (1 / Math.sqrt(length)) : 1;
                vector[i] = encoding == VectorEncoding.BYTE ? Math.round(30 * vector[i]) : scale * vector[i];
            }
        }
        return vectors;
    }

    private static float[] vector(Random random) {
        return gaussian(DIMENSION, random);
    }

    private static byte[] bytes(float[] vector) {
        byte[] bytes = new byte[vector.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Math.clamp(vector[i], -128, 127);
        }
        return bytes;
    }
}
