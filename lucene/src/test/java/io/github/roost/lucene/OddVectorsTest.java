package io.github.roost.lucene;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Segments with odd vectors: Roost's format, and Lucene's through {@link RoostReader}, find as much as Lucene. */
class OddVectorsTest {
    private static final int DIMENSION = 24;
    private static final int K = 10;
    private static final int WIDTH = 100;
    private static final int ODD = 77;
    private static final String FIELD = "vector";

    private final float[][] vectors;
    private final float[][] queries;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    OddVectorsTest() {
        Random random = new Random(5);
        vectors = gaussian(2_000, DIMENSION, random);
        queries = gaussian(30, DIMENSION, random);
    }

    @ParameterizedTest
    @CsvSource({
        "EUCLIDEAN, 10",
        "EUCLIDEAN, 1e3",
        "EUCLIDEAN, 1e4",
        "EUCLIDEAN, 1e9",
        "COSINE, 1e4",
        "MAXIMUM_INNER_PRODUCT, 1e4"
    })
    void oneVectorOfOtherSizeCostsTheOthersNothing(VectorSimilarityFunction similarity, float size) throws IOException {
        vectors[ODD][3] = size;
        assertAsGoodAsLucene(similarity, true);
        Arrays.fill(vectors[ODD], size);
        assertAsGoodAsLucene(similarity, true);
    }

    @ParameterizedTest
    @CsvSource({"EUCLIDEAN, 1e-15, true", "EUCLIDEAN, 1e15, true", "COSINE, 1e-15, true"})
    void theUnitCostsNothing(VectorSimilarityFunction similarity, float unit, boolean codes) throws IOException {
        for (float[][] some : new float[][][] {vectors, queries}) {
            for (float[] vector : some) {
                for (int d = 0; d < DIMENSION; d++) {
                    vector[d] *= unit;
                }
            }
        }
        assertAsGoodAsLucene(similarity, codes);
    }

    @ParameterizedTest
    @CsvSource({"EUCLIDEAN, 1e4", "COSINE, 1e3", "MAXIMUM_INNER_PRODUCT, 1e4"})
    void aQueryWithAnOddComponentFindsAsMuch(VectorSimilarityFunction similarity, float size) throws IOException {
        for (float[] query : queries) {
            query[5] = size;
        }
        assertAsGoodAsLucene(similarity, true);
    }

    @ParameterizedTest
    @CsvSource({"EUCLIDEAN", "COSINE"})
    void vectorsThatCodesCannotTellApartAreSearchedByFloats(VectorSimilarityFunction similarity) throws IOException {
        for (int i = 0; i < vectors.length; i += 2) {
            for (int d = 0; d < DIMENSION; d++) {
                vectors[i][d] += 500;
            }
        }
        assertAsGoodAsLucene(similarity, false);
    }

    /** @param codes whether codes are written, rather than floats */
    private void assertAsGoodAsLucene(VectorSimilarityFunction similarity, boolean codes) throws IOException {
        try (Directory directory = new MMapDirectory(folder.resolve("lucene"))) {
            write(directory, new IndexWriterConfig(), similarity);
            try (DirectoryReader stock = DirectoryReader.open(directory);
                    DirectoryReader view = RoostReader.over(DirectoryReader.open(directory))) {
                double expected = recall(stock, similarity, WIDTH);
                assertThat(recall(view, similarity, K)).isGreaterThanOrEqualTo(expected - .01);
                for (Written written : Written.values()) {
                    try (Directory own = new MMapDirectory(folder.resolve(written.name()))) {
                        write(own, new IndexWriterConfig().setCodec(written.codec()), similarity);
                        try (DirectoryReader reader = DirectoryReader.open(own)) {
                            assertThat(recall(reader, similarity, K)).isGreaterThanOrEqualTo(expected - .01);
                        }
                        // A node of a graph takes 208 bytes with codes, 232 with floats; without links 82 and 106.
                        long mean = written == Written.GRAPH ? 220 : 94;
                        assertThat(bytesOfGraph(own) < vectors.length * mean).isEqualTo(codes);
                    }
                }
            }
        }
    }

    private static long bytesOfGraph(Directory directory) throws IOException {
        long bytes = 0;
        for (String file : directory.listAll()) {
            bytes += file.endsWith(GraphFiles.GRAPH_EXTENSION) ? directory.fileLength(file) : 0;
        }
        return bytes;
    }

    private void write(Directory directory, IndexWriterConfig config, VectorSimilarityFunction similarity)
            throws IOException {
        config.setUseCompoundFile(false).getMergePolicy().setNoCFSRatio(0);
        try (IndexWriter writer = new IndexWriter(directory, config.setOpenMode(IndexWriterConfig.OpenMode.CREATE))) {
            for (float[] vector : vectors) {
                Document document = new Document();
                document.add(new KnnFloatVectorField(FIELD, vector, similarity));
                writer.addDocument(document);
            }
            writer.forceMerge(1);
        }
    }

    private double recall(DirectoryReader reader, VectorSimilarityFunction similarity, int k) throws IOException {
        IndexSearcher searcher = new IndexSearcher(reader);
        int hits = 0;
        for (float[] query : queries) {
            double[] scores = Arrays.stream(vectors)
                    .mapToDouble(vector -> similarity.compare(query, vector))
                    .sorted()
                    .toArray();
            KnnFloatVectorQuery search = new KnnFloatVectorQuery(FIELD, query, k, null, new SearchEffort(WIDTH));
            for (ScoreDoc hit : searcher.search(search, K).scoreDocs) {
                hits += hit.score >= scores[scores.length - K] * (1 - 1e-6) ? 1 : 0;
            }
        }
        return hits / (double) (K * queries.length);
    }
}
