package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.data.Percentage.withPercentage;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.bitvectors.HnswBitVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues.ScalarEncoding;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** An index in Lucene's own formats, searched by Lucene and through {@link RoostReader}. */
class RoostReaderTest {
    private static final int DOCUMENTS = 3_000;
    private static final int DIMENSION = 24;
    private static final int K = 10;
    private static final int WIDTH = 100;
    private static final int QUERIES = 40;
    private static final String FIELD = "vector";

    private final Random random = new Random(7);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @ParameterizedTest
    @EnumSource(VectorSimilarityFunction.class)
    void bothFindTheSameShareOfTheNearestWithTheSameScores(VectorSimilarityFunction similarity) throws IOException {
        float[][] vectors = vectors(similarity);
        try (Directory directory = new MMapDirectory(folder)) {
            write(directory, new Lucene99HnswVectorsFormat(), vectors, similarity, 2);
            try (DirectoryReader stock = DirectoryReader.open(directory);
                    DirectoryReader roost = RoostReader.over(DirectoryReader.open(directory))) {
                Map<String, Float> scores = new HashMap<>();
                double byLucene = recall(new IndexSearcher(stock), vectors, similarity, WIDTH, scores);
                double byRoost = recall(new IndexSearcher(roost), vectors, similarity, K, scores);
                assertThat(byLucene).isGreaterThan(.95);
                assertThat(byRoost).isGreaterThan(byLucene - .02);
            }
        }
    }

    /** @param scores of each query and hit: those that another search has found must be the same */
    private static double recall(
            IndexSearcher searcher,
            float[][] vectors,
            VectorSimilarityFunction similarity,
            int k,
            Map<String, Float> scores)
            throws IOException {
        int found = 0;
        for (int number = 0; number < QUERIES; number++) {
            float[] query = vectors[number * 50];
            Set<Integer> truth = new HashSet<>(nearest(vectors, query, similarity));
            ScoreDoc[] hits = searcher.search(query(query, k, null), K).scoreDocs;
            assertThat(hits).hasSize(K);
            for (ScoreDoc hit : hits) {
                Float before = scores.putIfAbsent(number + " " + hit.doc, hit.score);
                // Lucene's kernels for one vector and for several add up in different orders.
                assertThat(hit.score).isCloseTo(before == null ? hit.score : before, withPercentage(1e-4));
                found += truth.contains(hit.doc) ? 1 : 0;
            }
        }
        return (double) found / (QUERIES * K);
    }

    private static List<Integer> nearest(float[][] vectors, float[] query, VectorSimilarityFunction similarity) {
        double[] scores = Arrays.stream(vectors)
                .mapToDouble(vector -> similarity.compare(query, vector))
                .toArray();
        return IntStream.range(0, vectors.length)
                .boxed()
                .sorted(Comparator.comparingDouble(row -> -scores[row]))
                .limit(K)
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void deletedDocumentsAndFiltersCount(boolean quantized) throws IOException {
        VectorSimilarityFunction similarity = VectorSimilarityFunction.EUCLIDEAN;
        KnnVectorsFormat format =
                quantized ? new Lucene104HnswScalarQuantizedVectorsFormat() : new Lucene99HnswVectorsFormat();
        float[][] vectors = vectors(similarity);
        try (Directory directory = new MMapDirectory(folder)) {
            write(directory, format, vectors, similarity, 1);
            try (IndexWriter writer = new IndexWriter(directory, config(format))) {
                writer.deleteDocuments(kind(1));
            }
            try (DirectoryReader reader = RoostReader.over(DirectoryReader.open(directory))) {
                assertThat(reader.hasDeletions()).isTrue();
                IndexSearcher searcher = new IndexSearcher(reader);
                for (int wanted : new int[] {0, 2}) {
                    float[] query = vectors[wanted + 9];
                    Query among = query(query, K, new TermQuery(kind(wanted)));
                    ScoreDoc[] hits = searcher.search(among, K).scoreDocs;
                    assertThat(hits).hasSize(K).allMatch(hit -> hit.doc % 3 == wanted);
                    assertThat(hits[0].doc).isEqualTo(wanted + 9);
                    assertThat(hits[0].score).isEqualTo(1);
                }
                assertThat(searcher.search(query(vectors[1], K, new TermQuery(kind(1))), K).scoreDocs)
                        .isEmpty();
            }
        }
    }

    @Test
    void vectorsOfBytesAreSearchedToo() throws IOException {
        byte[][] vectors = new byte[DOCUMENTS][DIMENSION];
        for (byte[] vector : vectors) {
            random.nextBytes(vector);
        }
        try (Directory directory = new MMapDirectory(folder)) {
            try (IndexWriter writer = new IndexWriter(directory, config(new Lucene99HnswVectorsFormat()))) {
                for (byte[] vector : vectors) {
                    Document document = new Document();
                    document.add(new KnnByteVectorField(FIELD, vector, VectorSimilarityFunction.EUCLIDEAN));
                    writer.addDocument(document);
                }
            }
            try (DirectoryReader reader = RoostReader.over(DirectoryReader.open(directory))) {
                IndexSearcher searcher = new IndexSearcher(reader);
                for (int row = 0; row < DOCUMENTS; row += 300) {
                    Query query = new KnnByteVectorQuery(FIELD, vectors[row], K, null, new SearchEffort(WIDTH));
                    ScoreDoc first = searcher.search(query, K).scoreDocs[0];
                    assertThat(first.doc).isEqualTo(row);
                    assertThat(first.score).isEqualTo(1);
                }
            }
        }
    }

    @Test
    void aReopenedReaderSeesWhatIsNew() throws IOException {
        VectorSimilarityFunction similarity = VectorSimilarityFunction.EUCLIDEAN;
        float[][] vectors = vectors(similarity);
        Lucene99HnswVectorsFormat format = new Lucene99HnswVectorsFormat();
        try (Directory directory = new MMapDirectory(folder)) {
            write(directory, format, Arrays.copyOf(vectors, 2_000), similarity, 1);
            DirectoryReader reader = RoostReader.over(DirectoryReader.open(directory));
            try (IndexWriter writer = new IndexWriter(directory, config(format))) {
                for (int row = 2_000; row < DOCUMENTS; row++) {
                    writer.addDocument(document(vectors, row, similarity));
                }
            }
            DirectoryReader reopened = DirectoryReader.openIfChanged(reader);
            assertThat(reopened).isInstanceOf(RoostReader.class);
            reader.close();
            try (reopened) {
                IndexSearcher searcher = new IndexSearcher(reopened);
                for (int row : new int[] {3, 1_999, 2_000, 2_999}) {
                    assertThat(searcher.search(query(vectors[row], K, null), K).scoreDocs[0].doc)
                            .isEqualTo(row);
                }
            }
        }
    }

    /** The small segment has no graph, and the filter allows so few of a segment that Lucene scores them outside its search of vectors. */
    @Test
    void hitsUnderQuantizationAreScoredByTheirVectorsInLargeSegmentsAndSmall() throws IOException {
        VectorSimilarityFunction similarity = VectorSimilarityFunction.EUCLIDEAN;
        float[][] vectors = vectors(similarity);
        KnnVectorsFormat format =
                new Lucene104HnswScalarQuantizedVectorsFormat(ScalarEncoding.SINGLE_BIT_QUERY_NIBBLE, 16, 100);
        try (Directory directory = new MMapDirectory(folder)) {
            try (IndexWriter writer = new IndexWriter(directory, config(format))) {
                for (int row = 0; row < DOCUMENTS; row++) {
                    Document document = document(vectors, row, similarity);
                    document.add(new StringField("few", row % 400 == 3 ? "yes" : "no", Field.Store.NO));
                    writer.addDocument(document);
                    if (row == DOCUMENTS - 301) {
                        writer.flush();
                    }
                }
            }
            RoostReader.Graphs graphs = new RoostReader.Graphs();
            try (DirectoryReader reader = RoostReader.over(DirectoryReader.open(directory), graphs)) {
                assertThat(reader.leaves()).hasSize(2);
                assertThat(graphs.segments()).isEqualTo(1);
                IndexSearcher searcher = new IndexSearcher(reader);
                for (Query filter : Arrays.asList(null, new TermQuery(new Term("few", "yes")))) {
                    for (int row = 0; row < DOCUMENTS; row += 250) {
                        for (ScoreDoc hit : searcher.search(query(vectors[row], K, filter), K).scoreDocs) {
                            assertThat(hit.score)
                                    .isCloseTo(similarity.compare(vectors[row], vectors[hit.doc]), withPercentage(.01));
                        }
                    }
                }
            }
        }
    }

    @Test
    void aFormatWithGraphsAndScoresOfItsOwnIsSearchedByLucene() throws IOException {
        byte[][] vectors = new byte[DOCUMENTS][DIMENSION];
        try (Directory directory = new MMapDirectory(folder)) {
            try (IndexWriter writer = new IndexWriter(directory, config(new HnswBitVectorsFormat()))) {
                for (byte[] vector : vectors) {
                    random.nextBytes(vector);
                    Document document = new Document();
                    document.add(new KnnByteVectorField(FIELD, vector, VectorSimilarityFunction.EUCLIDEAN));
                    writer.addDocument(document);
                }
            }
            try (DirectoryReader lucene = DirectoryReader.open(directory);
                    DirectoryReader view = RoostReader.over(DirectoryReader.open(directory))) {
                for (int row = 0; row < DOCUMENTS; row += 300) {
                    Query query = new KnnByteVectorQuery(FIELD, vectors[row], K);
                    assertThat(hits(view, query)).isEqualTo(hits(lucene, query));
                }
            }
        }
    }

    private static List<String> hits(DirectoryReader reader, Query query) throws IOException {
        return Arrays.stream(new IndexSearcher(reader).search(query, K).scoreDocs)
                .map(hit -> hit.doc + " " + hit.score)
                .toList();
    }

    /** A segment of a handful of vectors has no graph, a field of another shape is refused, one without vectors has no hits. */
    @Test
    void whatHasNoGraphIsAsWithoutTheView() throws IOException {
        VectorSimilarityFunction similarity = VectorSimilarityFunction.EUCLIDEAN;
        float[][] vectors = vectors(similarity);
        try (Directory directory = new MMapDirectory(folder)) {
            write(directory, new Lucene99HnswVectorsFormat(), Arrays.copyOf(vectors, 5), similarity, 1);
            try (DirectoryReader reader = RoostReader.over(DirectoryReader.open(directory))) {
                IndexSearcher searcher = new IndexSearcher(reader);
                assertThat(searcher.search(query(vectors[3], 2, null), 2).scoreDocs[0].doc)
                        .isEqualTo(3);
                assertThat(searcher.search(new KnnFloatVectorQuery("other", vectors[0], 2), 2).scoreDocs)
                        .isEmpty();
                assertThatThrownBy(() -> searcher.search(new KnnFloatVectorQuery(FIELD, new float[3], 2), 2))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    private static Query query(float[] vector, int k, @Nullable Query filter) {
        return new KnnFloatVectorQuery(FIELD, vector, k, filter, new SearchEffort(WIDTH));
    }

    private static Term kind(int number) {
        return new Term("kind", Integer.toString(number));
    }

    private float[][] vectors(VectorSimilarityFunction similarity) {
        float[][] vectors = new float[DOCUMENTS][DIMENSION];
        for (float[] vector : vectors) {
            double squared = 0;
            for (int i = 0; i < DIMENSION; i++) {
                vector[i] = (float) random.nextGaussian();
                squared += vector[i] * vector[i];
            }
            if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
                for (int i = 0; i < DIMENSION; i++) {
                    vector[i] /= (float) Math.sqrt(squared);
                }
            }
        }
        return vectors;
    }

    private static Document document(float[][] vectors, int row, VectorSimilarityFunction similarity) {
        Document document = new Document();
        document.add(new StringField("kind", Integer.toString(row % 3), Field.Store.NO));
        document.add(new KnnFloatVectorField(FIELD, vectors[row], similarity));
        return document;
    }

    private static IndexWriterConfig config(KnnVectorsFormat format) {
        return new IndexWriterConfig()
                .setCodec(new RoostCodec(format))
                .setMergePolicy(NoMergePolicy.INSTANCE)
                .setRAMBufferSizeMB(512);
    }

    private static void write(
            Directory directory,
            KnnVectorsFormat format,
            float[][] vectors,
            VectorSimilarityFunction similarity,
            int segments)
            throws IOException {
        try (IndexWriter writer = new IndexWriter(directory, config(format))) {
            for (int row = 0; row < vectors.length; row++) {
                writer.addDocument(document(vectors, row, similarity));
                if ((row + 1) % (vectors.length / segments) == 0) {
                    writer.flush();
                }
            }
        }
    }
}
