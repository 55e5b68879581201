package io.github.roost.bench.lucene;

import io.github.roost.bench.ClientThreads;
import io.github.roost.bench.ClosedLoop;
import io.github.roost.lucene.RoostCodec;
import io.github.roost.lucene.RoostReader;
import io.github.roost.lucene.RoostVectorsFormat;
import io.github.roost.lucene.SearchEffort;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.vector.SearchResult;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.RescoreTopNQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues.ScalarEncoding;
import org.jspecify.annotations.Nullable;

/**
 * Compares Roost's vector format with Lucene's formats: search throughput at equal recall, and indexing time. Same vectors in the same segments,
 * with graphs of the same size; each format is searched with the smallest effort that reaches the recall, in turns with the others. Hits of
 * quantized formats are rescored by the vectors, as Lucene's documentation advises.
 */
public final class FormatContenders implements AutoCloseable {
    private static final int K = 10;
    /** Warm-up rounds. */
    private static final int WARM_UP = 4;

    private static final String FIELD = "vector";
    private static final int MAX_CONN = RoostVectorsFormat.DEFAULT_MAX_CONN;
    private static final int BEAM_WIDTH = RoostVectorsFormat.DEFAULT_BEAM_WIDTH;
    /** Values of ef, or of the number of hits requested from a format without an ef. */
    private static final int[] EFFORTS = {
        10, 12, 14, 17, 20, 24, 28, 33, 40, 48, 57, 68, 80, 100, 125, 150, 180, 220, 270, 330, 400, 500, 650, 800
    };

    private final float[][] queries;
    private final List<Set<Integer>> truth;
    private final Map<Contender, Written> indexes = new EnumMap<>(Contender.class);

    /** A vector format. */
    public enum Contender {
        /** {@link RoostVectorsFormat}. */
        ROOST,
        /** {@link Lucene99HnswVectorsFormat}: float vectors. */
        LUCENE_HNSW,
        /** The same, read through {@link RoostReader}. */
        ROOST_READER,
        /** Lucene's scalar quantization to one byte per component. */
        LUCENE_INT8,
        /** Lucene's quantization to one bit per component. */
        LUCENE_BINARY;

        private KnnVectorsFormat format() {
            return switch (this) {
                case ROOST -> new RoostVectorsFormat(MAX_CONN, BEAM_WIDTH);
                case LUCENE_HNSW, ROOST_READER -> new Lucene99HnswVectorsFormat(MAX_CONN, BEAM_WIDTH);
                case LUCENE_INT8 -> quantized(ScalarEncoding.UNSIGNED_BYTE);
                case LUCENE_BINARY -> quantized(ScalarEncoding.SINGLE_BIT_QUERY_NIBBLE);
            };
        }

        private static KnnVectorsFormat quantized(ScalarEncoding encoding) {
            return new Lucene104HnswScalarQuantizedVectorsFormat(encoding, MAX_CONN, BEAM_WIDTH);
        }

        private Query query(float[] vector, int effort) {
            return switch (this) {
                case ROOST, ROOST_READER -> new KnnFloatVectorQuery(FIELD, vector, K, null, new SearchEffort(effort));
                case LUCENE_HNSW -> new KnnFloatVectorQuery(FIELD, vector, effort);
                case LUCENE_INT8, LUCENE_BINARY ->
                    RescoreTopNQuery.createFullPrecisionRescorerQuery(
                            new KnnFloatVectorQuery(FIELD, vector, effort), vector, FIELD, K);
            };
        }
    }

    /** Name of a kept index's file with the seconds it took to write; written last, so it marks a complete index. */
    private static final String SECONDS = "seconds";

    /**
     * An index in one format, and the time to write it.
     *
     * @param folder closed at the end; deletes the index's folder unless it is kept
     */
    private record Written(Closeable folder, Directory directory, DirectoryReader reader, double seconds) {
        IndexSearcher searcher() {
            IndexSearcher searcher = new IndexSearcher(reader);
            // All queries differ: a cache would only fill up.
            searcher.setQueryCache(null);
            return searcher;
        }
    }

    /**
     * The measurements of one contender at one recall.
     *
     * @param effort the smallest effort that reaches the recall
     * @param recall recall@10 with it
     * @param perSecond searches per second of all threads, one value per round
     */
    public record Outcome(Contender contender, int effort, double recall, List<Double> perSecond) {
        /** Searches per second relative to another contender in the same round. */
        public Samples times(Outcome other) {
            return Samples.ratios(perSecond, other.perSecond);
        }
    }

    /**
     * Writes an index in each format, one after another in one thread, or opens kept ones.
     *
     * @param vectors not quantized before
     * @param queries at least one
     * @param segments number of segments of nearly equal size, at least 1
     * @param merged whether they are merged to one, which counts as indexing time
     * @param kept folder of indexes to reuse and keep; null for none
     */
    public FormatContenders(
            float[][] vectors,
            float[][] queries,
            int segments,
            boolean merged,
            List<Contender> contenders,
            @Nullable Path kept)
            throws IOException {
        this.queries = queries;
        this.truth = Arrays.stream(new ExactSearch(vectors).searchAll(queries, K))
                .map(FormatContenders::ids)
                .toList();
        try {
            for (Contender contender : contenders) {
                indexes.put(contender, index(vectors, segments, merged, contender, kept));
            }
        } catch (IOException | RuntimeException failure) {
            IOUtils.closeWhileSuppressingExceptions(failure, this::close);
            throw failure;
        }
    }

    private static Set<Integer> ids(SearchResult neighbors) {
        Set<Integer> ids = new HashSet<>();
        for (long id : neighbors.ids()) {
            ids.add(Math.toIntExact(id));
        }
        return ids;
    }

    private static Written index(
            float[][] vectors, int segments, boolean merged, Contender contender, @Nullable Path kept)
            throws IOException {
        if (kept == null) {
            TemporaryFolder folder = new TemporaryFolder("roost-formats");
            double seconds = write(vectors, segments, merged, contender, folder.path());
            return open(contender, folder, folder.path(), seconds);
        }
        // The key: an index of other vectors or segments has another folder.
        Path folder = kept.resolve("%s-%d-%s-%08x"
                .formatted(
                        contender.name().toLowerCase(Locale.ROOT),
                        segments,
                        merged ? "merged" : "apart",
                        Arrays.deepHashCode(vectors)));
        Path seconds = folder.resolve(SECONDS);
        if (!Files.exists(seconds)) {
            if (Files.exists(folder)) {
                IOUtils.rm(folder);
            }
            Files.createDirectories(folder.resolve("index"));
            double taken = write(vectors, segments, merged, contender, folder.resolve("index"));
            Files.writeString(seconds, Double.toString(taken));
        }
        return open(contender, () -> {}, folder.resolve("index"), Double.parseDouble(Files.readString(seconds)));
    }

    private static Written open(Contender contender, Closeable folder, Path path, double seconds) throws IOException {
        Directory directory = new MMapDirectory(path);
        DirectoryReader reader = DirectoryReader.open(directory);
        return new Written(
                folder, directory, contender == Contender.ROOST_READER ? RoostReader.over(reader) : reader, seconds);
    }

    /** Writes an index; returns the seconds it took. */
    private static double write(float[][] vectors, int segments, boolean merged, Contender contender, Path path)
            throws IOException {
        try (Directory directory = new MMapDirectory(path)) {
            return write(vectors, segments, merged, contender, directory);
        }
    }

    private static double write(
            float[][] vectors, int segments, boolean merged, Contender contender, Directory directory)
            throws IOException {
        long began = System.nanoTime();
        IndexWriterConfig config = new IndexWriterConfig()
                .setCodec(new RoostCodec(contender.format()))
                .setMergePolicy(NoMergePolicy.INSTANCE)
                .setUseCompoundFile(false)
                .setMaxBufferedDocs(vectors.length + 1)
                .setRAMBufferSizeMB(IndexWriterConfig.DISABLE_AUTO_FLUSH);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            int segment = 0;
            for (int row = 0; row < vectors.length; row++) {
                Document document = new Document();
                document.add(new KnnFloatVectorField(FIELD, vectors[row], VectorSimilarityFunction.EUCLIDEAN));
                writer.addDocument(document);
                if ((row + 1L) * segments / vectors.length > segment) {
                    segment++;
                    writer.flush();
                }
            }
        }
        if (merged) {
            IndexWriterConfig merging = new IndexWriterConfig()
                    .setCodec(new RoostCodec(contender.format()))
                    .setMergeScheduler(new SerialMergeScheduler())
                    // Merges adjacent segments only: documents stay in the order of the vectors, which the recall count
                    // relies on.
                    .setMergePolicy(new LogDocMergePolicy())
                    .setUseCompoundFile(false);
            try (IndexWriter writer = new IndexWriter(directory, merging)) {
                writer.forceMerge(1);
            }
        }
        return (System.nanoTime() - began) / 1e9;
    }

    /** Seconds it took to write a contender's index. */
    public double secondsToWrite(Contender contender) {
        return index(contender).seconds();
    }

    /** Number of segments in a contender's index. */
    public int segments(Contender contender) {
        return index(contender).reader().leaves().size();
    }

    private Written index(Contender contender) {
        return Objects.requireNonNull(indexes.get(contender));
    }

    /**
     * Measures all contenders in turns, forwards and backwards, after some warm-up rounds: code that is not JIT-compiled yet is many times
     * slower.
     *
     * @param recall target, from 0 to 1; each contender uses the smallest effort that reaches it
     * @param threads number of concurrently searching threads
     * @param rounds number of measured rounds
     * @param slice time per contender and round
     * @return outcomes of the contenders that reach the recall
     * @throws ExecutionException if a search fails
     */
    public List<Outcome> measure(double recall, int threads, int rounds, Duration slice)
            throws IOException, InterruptedException, ExecutionException {
        List<Outcome> outcomes = new ArrayList<>();
        for (Contender contender : indexes.keySet()) {
            Outcome outcome = minEffort(contender, recall);
            if (outcome.recall() >= recall) {
                outcomes.add(outcome);
            }
        }
        ClientThreads clients = new ClientThreads(threads);
        Map<Contender, IndexSearcher> searchers = new EnumMap<>(Contender.class);
        outcomes.forEach(outcome ->
                searchers.put(outcome.contender(), index(outcome.contender()).searcher()));
        for (int round = -WARM_UP; round < rounds; round++) {
            for (Outcome outcome : round % 2 == 0 ? outcomes : outcomes.reversed()) {
                IndexSearcher searcher = Objects.requireNonNull(searchers.get(outcome.contender()));
                ClosedLoop.Run run = clients.run(
                        slice,
                        number -> hits(
                                searcher, outcome.contender(), queries[number % queries.length], outcome.effort()));
                if (round >= 0) {
                    outcome.perSecond().add(run.perSecond());
                }
            }
        }
        return outcomes;
    }

    private Outcome minEffort(Contender contender, double wanted) throws IOException {
        IndexSearcher searcher = index(contender).searcher();
        double recall = 0;
        int effort = 0;
        for (int i = 0; i < EFFORTS.length && recall < wanted; i++) {
            effort = EFFORTS[i];
            recall = recall(searcher, contender, effort);
        }
        return new Outcome(contender, effort, recall, new ArrayList<>());
    }

    private double recall(IndexSearcher searcher, Contender contender, int effort) throws IOException {
        long found = 0;
        for (int query = 0; query < queries.length; query++) {
            for (ScoreDoc hit : hits(searcher, contender, queries[query], effort)) {
                found += truth.get(query).contains(hit.doc) ? 1 : 0;
            }
        }
        return (double) found / ((long) K * queries.length);
    }

    private static ScoreDoc[] hits(IndexSearcher searcher, Contender contender, float[] vector, int effort)
            throws IOException {
        return searcher.search(contender.query(vector, effort), K).scoreDocs;
    }

    /** Deletes the indexes, except kept ones. */
    @Override
    public void close() throws IOException {
        for (Written index : indexes.values()) {
            IOUtils.close(index.reader(), index.directory(), index.folder());
        }
    }
}
