package example;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.lucene.RoostCodec;
import io.github.roost.lucene.RoostKnnQuery;
import io.github.roost.lucene.RoostTable;
import io.github.roost.lucene.SearchEffort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
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
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;

/**
 * Three uses of Roost in Lucene, each by itself: an index with vectors in Roost's format, a searcher whose tasks run on Roost's workers, and a query
 * that a table of Roost answers.
 */
public final class LuceneOnRoost {
    private static final int SEGMENTS = 4;
    private static final int DOCUMENTS = 4_000;
    private static final int DIMENSION = 32;
    private static final int K = 10;

    private LuceneOnRoost() {}

    public static void main(String[] args) throws IOException {
        Random random = new Random(7);
        float[][] vectors = vectors(DOCUMENTS, random);
        float[][] queries = vectors(100, random);
        Path folder = Files.createTempDirectory("example-lucene-");
        try (Directory directory = new MMapDirectory(folder)) {
            write(directory, vectors);
            try (DirectoryReader reader = DirectoryReader.open(directory);
                    Orchestrator orchestrator = Orchestrator.builder().build()) {
                IndexSearcher searcher = new IndexSearcher(reader);
                searchInRoostFormat(searcher, vectors, queries);
                searchOnWorkers(searcher, orchestrator, queries);
                searchTable(searcher, orchestrator, vectors);
            }
        } finally {
            IOUtils.rm(folder);
        }
    }

    /** The codec is all that a writer needs. A reader needs nothing. */
    private static void write(Directory directory, float[][] vectors) throws IOException {
        IndexWriterConfig config =
                new IndexWriterConfig().setCodec(new RoostCodec()).setMergePolicy(NoMergePolicy.INSTANCE);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int row = 0; row < vectors.length; row++) {
                Document document = new Document();
                document.add(new KnnFloatVectorField("vector", vectors[row]));
                document.add(new NumericDocValuesField("row", row));
                writer.addDocument(document);
                if ((row + 1) % (vectors.length / SEGMENTS) == 0) {
                    writer.flush();
                }
            }
        }
    }

    /** Lucene's own query, with the width of the graph search as its strategy. */
    private static void searchInRoostFormat(IndexSearcher searcher, float[][] vectors, float[][] queries)
            throws IOException {
        int found = 0;
        for (float[] query : queries) {
            Set<Integer> nearest = nearest(vectors, query);
            for (int document : hits(searcher, nearest(query))) {
                found += nearest.contains(document) ? 1 : 0;
            }
        }
        System.out.println("in Roost's format: " + found + " of the " + queries.length * K + " nearest found");
        require(found >= .95 * queries.length * K, "a recall of at least .95, got " + found);
    }

    /** The same searcher with an executor of the orchestrator: its tasks run at the home of the index. */
    private static void searchOnWorkers(IndexSearcher alone, Orchestrator orchestrator, float[][] queries)
            throws IOException {
        try (Registration index = orchestrator.register("index");
                ExecutorService executor = orchestrator.executor(index.id())) {
            IndexSearcher onWorkers = new IndexSearcher(alone.getIndexReader(), executor);
            for (float[] query : queries) {
                int[] expected = hits(alone, nearest(query));
                int[] found = hits(onWorkers, nearest(query));
                require(Arrays.equals(expected, found), Arrays.toString(expected) + ", got " + Arrays.toString(found));
            }
        }
        long tasks = orchestrator.stats().tasks().completed();
        System.out.println("on Roost's workers: the same hits, in " + tasks + " tasks");
        require(tasks > 0, "tasks on Roost's workers");
    }

    /** A table beside the index; its ids are the documents' values of a field. The query combines with Lucene's others. */
    private static void searchTable(IndexSearcher searcher, Orchestrator orchestrator, float[][] vectors)
            throws IOException {
        try (HnswTable rows = HnswTable.builder().build(orchestrator, vectors)) {
            RoostTable table = RoostTable.of(rows, 100, "row");
            for (int row = 0; row < vectors.length; row += 97) {
                int nearest = hits(searcher, new RoostKnnQuery(table, vectors[row], K))[0];
                require(nearest == row, "document " + row + ", got " + nearest);
            }
            System.out.println("in a table: " + rows.stats());
        }
    }

    private static Query nearest(float[] query) {
        return new KnnFloatVectorQuery("vector", query, K, null, new SearchEffort(100));
    }

    private static int[] hits(IndexSearcher searcher, Query query) throws IOException {
        return Arrays.stream(searcher.search(query, K).scoreDocs)
                .mapToInt((ScoreDoc hit) -> hit.doc)
                .toArray();
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

    private static float[][] vectors(int count, Random random) {
        float[][] vectors = new float[count][DIMENSION];
        for (float[] vector : vectors) {
            for (int i = 0; i < DIMENSION; i++) {
                vector[i] = (float) random.nextGaussian();
            }
        }
        return vectors;
    }

    private static void require(boolean holds, String expected) {
        if (!holds) {
            throw new IllegalStateException("expected " + expected);
        }
    }
}
