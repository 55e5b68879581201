package io.github.roost.bench.hnsw;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.bench.rivals.CurveMeasurement;
import io.github.roost.bench.rivals.Curves;
import io.github.roost.bench.rivals.MeasuredEngine;
import io.github.roost.bench.rivals.SearchThreads;
import io.github.roost.bench.rivals.Sweep;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.TemporaryFolder;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.stream.IntStream;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.VectorUtil;

/**
 * Filtered searches of a live table beside those of Lucene over the same rows, of which as many are deleted, and beside what a user could do instead:
 * compare all allowed rows, or drop what is not allowed from the results of a wider search. All on one thread. Not thread-safe.
 */
final class FilteredPeers implements AutoCloseable {
    private static final int K = 10;
    private static final String VECTOR = "vector";
    private static final String ALLOWED = "allowed";
    private static final String DELETED = "deleted";
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private final float[][] rows;
    private final float[][] targets;
    private final LiveTable live;
    private final TemporaryFolder folder = new TemporaryFolder("roost-filters-");
    private final Directory directory = new MMapDirectory(folder.path());
    private final DirectoryReader reader;
    private final IndexSearcher lucene;
    private final SearchThreads thread;

    /**
     * Writes the index of Lucene: one segment.
     *
     * @param live table of the rows, whose ids are their numbers
     * @param rows not copied
     * @param deletedEvery one row more is written, and deleted, per this many rows
     * @param filters the allowed rows by the name of a filter
     */
    FilteredPeers(LiveTable live, float[][] rows, float[][] targets, int deletedEvery, Map<String, BitSet> filters)
            throws IOException {
        this.rows = rows;
        this.targets = targets;
        this.live = live;
        IndexWriterConfig config = new IndexWriterConfig()
                .setMergePolicy(NoMergePolicy.INSTANCE)
                .setUseCompoundFile(false)
                .setMaxBufferedDocs(2 * rows.length)
                .setRAMBufferSizeMB(IndexWriterConfig.DISABLE_AUTO_FLUSH);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int row = 0; row < rows.length; row++) {
                Document document = document(rows[row]);
                for (Map.Entry<String, BitSet> filter : filters.entrySet()) {
                    if (filter.getValue().get(row)) {
                        document.add(new StringField(ALLOWED, filter.getKey(), Field.Store.NO));
                    }
                }
                writer.addDocument(document);
            }
            for (int row = 0; row < rows.length; row += deletedEvery) {
                Document document = document(rows[row]);
                document.add(new StringField(DELETED, DELETED, Field.Store.NO));
                filters.keySet().forEach(filter -> document.add(new StringField(ALLOWED, filter, Field.Store.NO)));
                writer.addDocument(document);
            }
            writer.flush();
            writer.deleteDocuments(new Term(DELETED, DELETED));
        }
        this.reader = DirectoryReader.open(directory);
        this.lucene = new IndexSearcher(reader);
        // All queries differ: a cache would only fill up.
        lucene.setQueryCache(null);
        this.thread = new SearchThreads(1, targets.length);
    }

    private static Document document(float[] vector) {
        Document document = new Document();
        document.add(new KnnFloatVectorField(VECTOR, vector, VectorSimilarityFunction.EUCLIDEAN));
        return document;
    }

    /** Finds the rows nearest to a query, at most k of them. */
    private interface Finder {
        int[] find(float[] query, int ef) throws Exception;
    }

    private record Peer(String name, Finder finder, float[][] targets, SearchThreads thread) implements MeasuredEngine {
        @Override
        public Duration buildTime() {
            return Duration.ZERO;
        }

        @Override
        public int[][] search(int k, int ef) throws Exception {
            int[][] found = new int[targets.length][];
            thread.once((number, query) -> found[query] = finder.find(targets[query], ef));
            return found;
        }

        @Override
        public double rate(int k, int ef, Duration time) throws Exception {
            return thread.rate(time, (number, query) -> finder.find(targets[query], ef));
        }
    }

    /** Measures all ways to search the allowed rows of one filter. */
    Curves measure(String filter, BitSet allowed, Sweep sweep) throws Exception {
        IdFilter accepts = IdFilter.of(id -> allowed.get((int) id));
        int[] ordinals = allowed.stream().toArray();
        TermQuery term = new TermQuery(new Term(ALLOWED, filter));
        List<Peer> peers = List.of(
                peer("roost live", (query, ef) -> ids(live.searchFunction(K, ef, accepts), query)),
                peer("lucene", (query, ef) -> lucene(query, ef, term)),
                peer("scan of the allowed rows", (query, ef) -> scan(query, ordinals)),
                peer(
                        "roost live, wider, then filtered",
                        (query, ef) -> Arrays.stream(ids(live.searchFunction(ef, ef), query))
                                .filter(allowed::get)
                                .limit(K)
                                .toArray()));
        float[][] these = Arrays.stream(ordinals).mapToObj(row -> rows[row]).toArray(float[][]::new);
        SearchResult[] truth = new ExactSearch(these).searchAll(targets, Math.min(K, these.length));
        return CurveMeasurement.curves(filter, peers, 1, sweep, found -> recall(truth, found), why -> {});
    }

    private Peer peer(String name, Finder finder) {
        return new Peer(name, finder, targets, thread);
    }

    private static int[] ids(SearchFunction<float[], SearchResult> search, float[] query) throws Exception {
        return Arrays.stream(search.search(query, UNCOUNTED).ids())
                .mapToInt(id -> (int) id)
                .toArray();
    }

    private int[] lucene(float[] query, int ef, TermQuery filter) throws IOException {
        ScoreDoc[] hits = lucene.search(new KnnFloatVectorQuery(VECTOR, query, ef, filter), K).scoreDocs;
        return Arrays.stream(hits).mapToInt(hit -> hit.doc).toArray();
    }

    private record Near(int row, float distance) {}

    private int[] scan(float[] query, int[] ordinals) {
        PriorityQueue<Near> nearest =
                new PriorityQueue<>(K + 1, (one, other) -> Float.compare(other.distance, one.distance));
        for (int row : ordinals) {
            float distance = VectorUtil.squareDistance(query, rows[row]);
            if (nearest.size() < K || distance < nearest.element().distance) {
                nearest.add(new Near(row, distance));
                if (nearest.size() > K) {
                    nearest.remove();
                }
            }
        }
        return nearest.stream().mapToInt(Near::row).toArray();
    }

    private double recall(SearchResult[] truth, int[][] found) {
        DistanceRecall recall = new DistanceRecall();
        for (int query = 0; query < found.length; query++) {
            float[] target = targets[query];
            int[] ids = found[query];
            float[] distances = new float[ids.length];
            for (int i = 0; i < ids.length; i++) {
                distances[i] = ExactSearch.distance(target, rows[ids[i]], Metric.SQUARED_L2);
            }
            recall.add(
                    truth[query],
                    new SearchResult(IntStream.of(ids).asLongStream().toArray(), distances));
        }
        return recall.share();
    }

    @Override
    public void close() throws IOException {
        thread.close();
        IOUtils.close(reader, directory, folder);
    }
}
