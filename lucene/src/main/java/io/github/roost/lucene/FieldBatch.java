package io.github.roost.lucene;

import io.github.roost.lucene.filter.SharedFilter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TaskExecutor;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.search.knn.KnnCollectorManager;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.Bits;
import org.jspecify.annotations.Nullable;

/**
 * Searches for several targets in one field of one searcher: one query per target, which share one evaluation of the filter, and one scan
 * of each segment in Roost's format that they would scan. Used for one batch.
 */
final class FieldBatch {
    private final IndexSearcher searcher;
    private final String field;
    private final float[][] targets;
    private final int k;
    private final SearchEffort effort;
    private final @Nullable SharedFilter filter;
    /** The hits of all targets in the segments that were scanned. */
    private final ConcurrentMap<Object, TopDocs[]> scanned = new ConcurrentHashMap<>();

    FieldBatch(
            IndexSearcher searcher,
            String field,
            float[][] targets,
            int k,
            SearchEffort effort,
            @Nullable Query filter) {
        this.searcher = searcher;
        this.field = field;
        this.targets = targets;
        this.k = k;
        this.effort = effort;
        this.filter = filter == null ? null : new SharedFilter(filter);
    }

    List<TopDocs> run() throws IOException {
        List<Callable<TopDocs>> searches = new ArrayList<>();
        for (int number = 0; number < targets.length; number++) {
            Query query = new Nearest(number);
            searches.add(() -> searcher.search(query, k));
        }
        TaskExecutor executor = searcher.getTaskExecutor();
        if (filter != null) {
            filter.evaluate(searcher, executor);
        }
        // A scan for all targets could not end for some of them, as a search does after its timeout.
        if (targets.length > 1 && searcher.getTimeout() == null) {
            executor.invokeAll(searcher.getIndexReader().leaves().stream()
                    .<Callable<Boolean>>map(segment -> () -> scan(segment))
                    .toList());
        }
        return executor.invokeAll(searches);
    }

    private boolean scan(LeafReaderContext segment) throws IOException {
        LeafReader reader = segment.reader();
        RoostVectorsReader vectors = vectorsOf(reader);
        if (vectors == null) {
            return false;
        }
        AcceptDocs accepted = accepted(segment);
        if (!vectors.scans(field, k, effort, accepted.cost())) {
            return false;
        }
        KnnCollector[] collectors = new KnnCollector[targets.length];
        Arrays.setAll(collectors, target -> new TopKnnCollector(k, Integer.MAX_VALUE, effort));
        SegmentReaders.LeafSearch scan = () -> vectors.scan(field, targets, collectors, accepted);
        if (reader instanceof SegmentReaders.Segment home) {
            // Each vector is read once, as by the first of the searches.
            home.search(collectors[0], targets[0].length * Float.BYTES, scan);
        } else {
            scan.run();
        }
        scanned.put(
                segment.id(),
                Arrays.stream(collectors).map(KnnCollector::topDocs).toArray(TopDocs[]::new));
        return true;
    }

    private AcceptDocs accepted(LeafReaderContext segment) throws IOException {
        Bits live = segment.reader().getLiveDocs();
        int maxDoc = segment.reader().maxDoc();
        if (filter == null) {
            return AcceptDocs.fromLiveDocs(live, maxDoc);
        }
        SharedFilter.Matches matches = filter.matchesIn(searcher, segment);
        return AcceptDocs.fromIteratorSupplier(() -> new BitSetIterator(matches.bits(), matches.count()), live, maxDoc);
    }

    /**
     * The reader of the field's vectors; null if they are not in Roost's format, or a reader of others may hide, limit or count their
     * searches.
     */
    private @Nullable RoostVectorsReader vectorsOf(LeafReader reader) {
        if (reader instanceof SegmentReaders.Segment || reader instanceof RoostReader.Segment) {
            return vectorsOf(((FilterLeafReader) reader).getDelegate());
        }
        if (!(reader instanceof CodecReader codec) || codec.getFieldInfos().fieldInfo(field) == null) {
            return null;
        }
        KnnVectorsReader all = codec.getVectorReader();
        return (all instanceof PerFieldKnnVectorsFormat.FieldsReader perField ? perField.getFieldReader(field) : all)
                        instanceof RoostVectorsReader vectors
                ? vectors
                : null;
    }

    /** The query for one target. */
    private final class Nearest extends KnnFloatVectorQuery {
        private final int number;

        Nearest(int number) {
            super(FieldBatch.this.field, targets[number], FieldBatch.this.k, FieldBatch.this.filter, effort);
            this.number = number;
        }

        @Override
        protected TopDocs approximateSearch(
                LeafReaderContext segment, AcceptDocs accepted, int visitedLimit, KnnCollectorManager collectors)
                throws IOException {
            TopDocs[] known = scanned.get(segment.id());
            return known == null
                    ? super.approximateSearch(segment, accepted, visitedLimit, collectors)
                    : first(
                            collectors
                                    .newCollector(visitedLimit, effort, segment)
                                    .k(),
                            known[number]);
        }

        /** The first hits, copied, for Lucene changes them to numbers of the whole reader. */
        private static TopDocs first(int count, TopDocs hits) {
            return new TopDocs(
                    hits.totalHits,
                    Arrays.stream(hits.scoreDocs)
                            .limit(count)
                            .map(hit -> new ScoreDoc(hit.doc, hit.score))
                            .toArray(ScoreDoc[]::new));
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }
}
