package consumer;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.vector.VectorTable;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.lucene.RoostKnnQuery;
import io.github.roost.lucene.RoostTable;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Searches an index of four segments in the calling thread and on Roost's workers; both must find the same hits. Then has a table of Roost answer a
 * query of the same index.
 */
public final class LuceneOnRoost {
    private static final int DIMENSION = 32;

    private LuceneOnRoost() {}

    public static void main(String[] args) throws IOException {
        Random random = new Random(7);
        try (var directory = new ByteBuffersDirectory()) {
            float[][] vectors = fill(directory, random);
            try (Orchestrator orchestrator = Orchestrator.builder().build();
                    Registration index = orchestrator.register("index");
                    ExecutorService executor = orchestrator.executor(index.id());
                    DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher alone = new IndexSearcher(reader);
                IndexSearcher onRoost = new IndexSearcher(reader, executor);
                for (int i = 0; i < 50; i++) {
                    Query query = new KnnFloatVectorQuery("vector", vector(random), 10);
                    int[] expected = hits(alone, query);
                    int[] found = hits(onRoost, query);
                    if (!Arrays.equals(expected, found)) {
                        throw new IllegalStateException(
                                "expected " + Arrays.toString(expected) + ", got " + Arrays.toString(found));
                    }
                }
                long tasks = orchestrator.stats().tasks().completed();
                if (tasks == 0) {
                    throw new IllegalStateException("no task ran on Roost's workers");
                }
                System.out.println("lucene: the same hits for 50 queries, in " + tasks + " tasks on "
                        + orchestrator.workers() + " workers");
                askTable(orchestrator, alone, vectors);
            }
        }
    }

    private static void askTable(Orchestrator orchestrator, IndexSearcher searcher, float[][] vectors)
            throws IOException {
        try (VectorTable rows = HnswTable.builder().build(orchestrator, vectors)) {
            RoostTable table = RoostTable.of(rows, 100, "row");
            for (int row = 0; row < vectors.length; row += 97) {
                int nearest = hits(searcher, new RoostKnnQuery(table, vectors[row], 10))[0];
                if (nearest != row) {
                    throw new IllegalStateException("expected document " + row + ", got " + nearest);
                }
            }
            System.out.println("lucene: found every document asked for in " + rows.stats());
        }
    }

    /** Returns the vectors of the documents, whose rows are their numbers. */
    private static float[][] fill(ByteBuffersDirectory directory, Random random) throws IOException {
        float[][] vectors = new float[4 * 500][];
        var config = new IndexWriterConfig().setMergePolicy(NoMergePolicy.INSTANCE);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int segment = 0; segment < 4; segment++) {
                for (int i = 0; i < 500; i++) {
                    int row = segment * 500 + i;
                    vectors[row] = vector(random);
                    Document document = new Document();
                    document.add(new KnnFloatVectorField("vector", vectors[row]));
                    document.add(new NumericDocValuesField("row", row));
                    writer.addDocument(document);
                }
                writer.flush();
            }
        }
        return vectors;
    }

    private static float[] vector(Random random) {
        float[] vector = new float[DIMENSION];
        for (int i = 0; i < DIMENSION; i++) {
            vector[i] = (float) random.nextGaussian();
        }
        return vector;
    }

    private static int[] hits(IndexSearcher searcher, Query query) throws IOException {
        return Arrays.stream(searcher.search(query, 10).scoreDocs)
                .mapToInt((ScoreDoc hit) -> hit.doc)
                .toArray();
    }
}
