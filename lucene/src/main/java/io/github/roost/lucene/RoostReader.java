package io.github.roost.lucene;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.jspecify.annotations.Nullable;

/**
 * A view of an index that was written in Lucene's own vector formats, whose graphs Roost searches: nothing is indexed again, and the
 * wrapped reader can still search the same files.
 *
 * <pre>{@code
 * IndexSearcher searcher = new IndexSearcher(RoostReader.over(DirectoryReader.open(directory)));
 * }</pre>
 *
 * <p>When a segment is first seen, each graph of it is read, and kept off-heap with a byte per component of each vector: about
 * {@code dimension + 8 m + 16} bytes per vector; that takes as long as reading all vectors. Reopened readers share the graph, which
 * is freed with the segment. Hits are scored by the vectors in the segment, so that scores are Lucene's own, and {@link SearchEffort} says
 * how wide a search is. Vector fields without a graph (small segments, other formats) are searched as they are without the view.
 *
 * <p>Immutable; thread-safe.
 */
public final class RoostReader extends FilterDirectoryReader {
    private final Graphs graphs;

    /**
     * The graphs that have been read of segments that some reader has open: shared by views of one index that are made anew
     * for each search. Thread-safe.
     */
    public static final class Graphs {
        private final ConcurrentMap<IndexReader.CacheKey, StockGraphs> ofSegments = new ConcurrentHashMap<>();

        /** Of no segment yet. */
        public Graphs() {}

        /** {@return the number of open segments that have been seen and have a graph of Lucene's own} */
        public int segments() {
            return Math.toIntExact(ofSegments.values().stream()
                    .filter(graphs -> graphs != StockGraphs.NONE)
                    .count());
        }

        /** Two that see a segment for the first time at once may both read it; one of them is kept. */
        StockGraphs of(CodecReader segment) throws IOException {
            IndexReader.CacheHelper core = segment.getCoreCacheHelper();
            if (core == null) {
                return StockGraphs.read(segment);
            }
            StockGraphs known = ofSegments.get(core.getKey());
            if (known == null) {
                StockGraphs read = StockGraphs.read(segment);
                StockGraphs before = ofSegments.putIfAbsent(core.getKey(), read);
                if (before == null) {
                    core.addClosedListener(ofSegments::remove);
                }
                known = before == null ? read : before;
            }
            return known;
        }
    }

    private RoostReader(DirectoryReader in, Graphs graphs) throws IOException {
        super(in, new SubReaderWrapper() {
            @Override
            public LeafReader wrap(LeafReader segment) {
                return Segment.of(segment, graphs);
            }
        });
        this.graphs = graphs;
    }

    /**
     * The view.
     *
     * @param reader closed with the view; its segments must be Lucene's own, behind any number of filters
     * @return a reader that reopens as such a view
     * @throws IOException if a graph or its vectors cannot be read
     */
    public static DirectoryReader over(DirectoryReader reader) throws IOException {
        return over(reader, new Graphs());
    }

    /**
     * The view, with the graphs that other views of the index have read already.
     *
     * @param reader closed with the view; its segments must be Lucene's own, behind any number of filters
     * @param graphs shared with other views of the same index
     * @return a reader that reopens as such a view
     * @throws IOException if a graph or its vectors cannot be read
     */
    public static DirectoryReader over(DirectoryReader reader, Graphs graphs) throws IOException {
        try {
            return new RoostReader(reader, graphs);
        } catch (UncheckedIOException unreadable) {
            throw unreadable.getCause();
        }
    }

    @Override
    protected DirectoryReader doWrapDirectoryReader(DirectoryReader reopened) throws IOException {
        try {
            return new RoostReader(reopened, graphs);
        } catch (UncheckedIOException unreadable) {
            throw unreadable.getCause();
        }
    }

    @Override
    public @Nullable CacheHelper getReaderCacheHelper() {
        return in.getReaderCacheHelper();
    }

    /** One segment. Its documents are those of the wrapped one, so what is cached for that one holds for it. */
    private static final class Segment extends FilterLeafReader {
        private final StockGraphs graphs;

        private Segment(LeafReader in, StockGraphs graphs) {
            super(in);
            this.graphs = graphs;
        }

        static LeafReader of(LeafReader in, Graphs graphs) {
            try {
                StockGraphs own = FilterLeafReader.unwrap(in) instanceof CodecReader segment
                        ? graphs.of(segment)
                        : StockGraphs.NONE;
                return new Segment(in, own);
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }

        @Override
        public void searchNearestVectors(String field, float[] target, KnnCollector collector, AcceptDocs accepted)
                throws IOException {
            StockGraphs.Field own = graphs.field(field);
            if (own == null) {
                in.searchNearestVectors(field, target, collector, accepted);
            } else {
                own.search(in, target, collector, accepted);
            }
        }

        @Override
        public void searchNearestVectors(String field, byte[] target, KnnCollector collector, AcceptDocs accepted)
                throws IOException {
            StockGraphs.Field own = graphs.field(field);
            if (own == null) {
                in.searchNearestVectors(field, target, collector, accepted);
            } else {
                own.search(in, target, collector, accepted);
            }
        }

        @Override
        public @Nullable CacheHelper getCoreCacheHelper() {
            return in.getCoreCacheHelper();
        }

        @Override
        public @Nullable CacheHelper getReaderCacheHelper() {
            return in.getReaderCacheHelper();
        }
    }
}
