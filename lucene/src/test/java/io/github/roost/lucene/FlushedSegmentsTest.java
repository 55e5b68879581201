package io.github.roost.lucene;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.hnsw.HnswGraph;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a refresh writes, and what a merge makes of it, with the sizes of the default format. */
class FlushedSegmentsTest {
    private static final int DIMENSION = 24;
    private static final int FLUSHED = MinSizes.DEFAULT.merged() / 2 + 100;
    private static final int K = 10;
    private static final String FIELD = "vector";

    private final Random random = new Random(1);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @Test
    void aFlushHasCodesAndTheMergeOfSuchSegmentsAGraph() throws IOException {
        float[][] vectors = gaussian(3 * FLUSHED, DIMENSION, random);
        try (Directory directory = new MMapDirectory(folder);
                IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig().setCodec(new RoostCodec()))) {
            for (int i = 0; i < 2 * FLUSHED; i++) {
                add(writer, vectors[i]);
                if (i == FLUSHED - 1) {
                    writer.flush();
                }
            }
            try (DirectoryReader reader = DirectoryReader.open(writer)) {
                assertThat(reader.leaves()).hasSize(2).allSatisfy(leaf -> {
                    assertThat(graph(leaf).size()).isZero();
                    assertThat(bytes(leaf)).isBetween(64L * FLUSHED, 96L * FLUSHED);
                });
                assertThat(hits(reader, vectors, 2 * FLUSHED)).isGreaterThan(.99);
            }
            writer.forceMerge(1);
            try (DirectoryReader reader = DirectoryReader.open(writer)) {
                assertThat(graph(reader.leaves().getFirst()).size()).isEqualTo(2 * FLUSHED);
                assertThat(hits(reader, vectors, 2 * FLUSHED)).isGreaterThan(.95);
            }
            for (int i = 2 * FLUSHED; i < vectors.length; i++) {
                add(writer, vectors[i]);
            }
            writer.forceMerge(1);
            try (DirectoryReader reader = DirectoryReader.open(writer)) {
                assertThat(graph(reader.leaves().getFirst()).size()).isEqualTo(vectors.length);
                assertThat(hits(reader, vectors, vectors.length)).isGreaterThan(.95);
            }
        }
    }

    @Test
    void equalVectorsAreFoundUpToTheLast() throws IOException {
        float[] vector = gaussian(DIMENSION, random);
        float[] other = gaussian(DIMENSION, random);
        try (Directory directory = new MMapDirectory(folder);
                IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig().setCodec(new RoostCodec()))) {
            for (int i = 0; i < FLUSHED; i++) {
                add(writer, i == FLUSHED / 2 ? other : vector);
            }
            try (DirectoryReader reader = DirectoryReader.open(writer)) {
                assertThat(search(reader, other, K)[0].doc).isEqualTo(FLUSHED / 2);
                float score = VectorSimilarityFunction.EUCLIDEAN.compare(vector, vector);
                assertThat(search(reader, vector, K)).hasSize(K).allMatch(hit -> hit.score == score);
                assertThat(search(reader, vector, FLUSHED + K)).hasSize(FLUSHED).doesNotHaveDuplicates();
            }
        }
    }

    private static void add(IndexWriter writer, float[] vector) throws IOException {
        writer.addDocument(List.of(new KnnFloatVectorField(FIELD, vector)));
    }

    private static ScoreDoc[] search(DirectoryReader reader, float[] query, int k) throws IOException {
        return new IndexSearcher(reader)
                .search(new KnnFloatVectorQuery(FIELD, query, k, null, new SearchEffort(150)), k)
                .scoreDocs;
    }

    /** The share of the true neighbors that searches find, by their scores. */
    private double hits(DirectoryReader reader, float[][] vectors, int count) throws IOException {
        int found = 0;
        int queries = 30;
        for (float[] query : gaussian(queries, DIMENSION, random)) {
            double[] scores = Arrays.stream(vectors, 0, count)
                    .mapToDouble(vector -> VectorSimilarityFunction.EUCLIDEAN.compare(query, vector))
                    .sorted()
                    .toArray();
            for (ScoreDoc hit : search(reader, query, K)) {
                found += hit.score >= scores[count - K] * (1 - 1e-6) ? 1 : 0;
            }
        }
        return found / (double) (queries * K);
    }

    private static RoostVectorsReader vectors(LeafReader segment) {
        KnnVectorsReader all = ((CodecReader) segment).getVectorReader();
        return (RoostVectorsReader) ((PerFieldKnnVectorsFormat.FieldsReader) all).getFieldReader(FIELD);
    }

    private static HnswGraph graph(LeafReaderContext leaf) throws IOException {
        return vectors(leaf.reader()).getGraph(FIELD);
    }

    private static long bytes(LeafReaderContext leaf) {
        return vectors(leaf.reader())
                .getOffHeapByteSize(leaf.reader().getFieldInfos().fieldInfo(FIELD))
                .getOrDefault(GraphFiles.CODES_ALONE, 0L);
    }
}
