package consumer;

import io.github.roost.lucene.RoostCodec;
import io.github.roost.lucene.SearchEffort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;

/** Writes a Lucene index with vectors in Roost's format (one line) and reads it (nothing to configure); compares hits with an exact search. */
public final class LuceneInRoostFormat {
    private static final int DIMENSION = 32;
    private static final int DOCUMENTS = 5_000;
    private static final int K = 10;

    private LuceneInRoostFormat() {}

    public static void main(String[] args) throws IOException {
        Random random = new Random(7);
        float[][] vectors = new float[DOCUMENTS][];
        Arrays.setAll(vectors, i -> vector(random));
        Path folder = Files.createTempDirectory("roost-format");
        try (Directory directory = new MMapDirectory(folder)) {
            IndexWriterConfig config = new IndexWriterConfig().setCodec(new RoostCodec());
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                for (float[] vector : vectors) {
                    Document document = new Document();
                    document.add(new KnnFloatVectorField("vector", vector));
                    writer.addDocument(document);
                }
                writer.forceMerge(1);
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                int found = 0;
                for (int i = 0; i < 100; i++) {
                    float[] query = vector(random);
                    Set<Integer> nearest = nearest(vectors, query);
                    var question = new KnnFloatVectorQuery("vector", query, K, null, new SearchEffort(100));
                    for (ScoreDoc hit : searcher.search(question, K).scoreDocs) {
                        found += nearest.contains(hit.doc) ? 1 : 0;
                    }
                }
                if (found < 900) {
                    throw new IllegalStateException("at least 900 of 1,000 nearest were expected, got " + found);
                }
                System.out.println("lucene-format: " + found + " of the 1,000 nearest found in Roost's format");
            }
        } finally {
            IOUtils.rm(folder);
        }
    }

    private static Set<Integer> nearest(float[][] vectors, float[] query) {
        Integer[] documents = new Integer[vectors.length];
        Arrays.setAll(documents, i -> i);
        Arrays.sort(documents, (a, b) -> Float.compare(distance(vectors[a], query), distance(vectors[b], query)));
        return new HashSet<>(Arrays.asList(documents).subList(0, K));
    }

    private static float distance(float[] a, float[] b) {
        float sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (a[i] - b[i]) * (a[i] - b[i]);
        }
        return sum;
    }

    private static float[] vector(Random random) {
        float[] vector = new float[DIMENSION];
        for (int i = 0; i < DIMENSION; i++) {
            vector[i] = (float) random.nextGaussian();
        }
        return vector;
    }
}
