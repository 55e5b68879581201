package io.github.roost.lucene;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.jspecify.annotations.Nullable;

/**
 * A view of an index in Lucene's own vector formats, whose graphs are searched by Roost. Nothing is reindexed, and the wrapped
 * reader can still search the same files.
 *
 * <pre>{@code
 * IndexSearcher searcher = new IndexSearcher(RoostReader.over(DirectoryReader.open(directory)));
 * }</pre>
 *
 * <p>When a segment is first opened, its graphs are read and copied off-heap with SQ8 codes of the vectors: about
 * {@code dimension + 8 m + 20} bytes per vector (with the vectors, {@code 4 dimension + 8 m + 12}, where codes would lose neighbors), in the time of reading all vectors. Reopened readers share the copy, which
 * is freed when the segment is closed. {@link SearchEffort} sets the width of a search.
 *
 * <p>Hits are scored by the vectors in the segment, also under a quantizing format, whose codes Lucene itself would score: there small
 * segments, which have no graph, are scanned. Other vector fields without a graph, other formats, and graphs with a {@code maxConn} over
 * 256 are searched by Lucene.
 *
 * <p>Immutable; thread-safe.
 */
public final class RoostReader extends FilterDirectoryReader {
    private final Graphs graphs;

    /**
     * A cache of the graphs of open segments, to be shared by several views of one index, for example if a view is created per search.
     * Thread-safe.
     */
    public static final class Graphs {
        private final ConcurrentMap<IndexReader.CacheKey, StockGraphs> ofSegments = new ConcurrentHashMap<>();

        /** Creates an empty cache. */
        public Graphs() {}

        /** {@return the number of open segments in the cache with at least one graph} */
        public int segments() {
            return Math.toIntExact(
                    ofSegments.values().stream().filter(StockGraphs::hasGraph).count());
        }

        /** Returns the graphs of a segment, reading them if necessary. Two threads may read the same segment at once; one copy is kept. */
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
     * Creates a view of a reader.
     *
     * @param reader the wrapped reader, closed with the view; graphs are found in segments that are Lucene's own, behind any number
     *     of filter readers
     * @return the view; reopening it returns a view
     * @throws IOException if a graph or its vectors cannot be read
     */
    public static DirectoryReader over(DirectoryReader reader) throws IOException {
        return over(reader, new Graphs());
    }

    /**
     * Creates a view of a reader that shares graphs with other views of the same index.
     *
     * @param reader the wrapped reader, closed with the view; graphs are found in segments that are Lucene's own, behind any number
     *     of filter readers
     * @param graphs the cache shared with other views of the same index
     * @return the view; reopening it returns a view
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

    /** A view of a segment. It has the same documents as the wrapped segment, so it shares its cache keys. */
    static final class Segment extends FilterLeafReader {
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

        /** A field that Roost searches; null if Lucene does, or the wrapped reader hides it. */
        private StockGraphs.@Nullable Field own(String field) {
            return in.getFieldInfos().fieldInfo(field) == null ? null : graphs.field(field);
        }

        @Override
        public void searchNearestVectors(String field, float[] target, KnnCollector collector, AcceptDocs accepted)
                throws IOException {
            StockGraphs.Field own = own(field);
            if (own == null) {
                in.searchNearestVectors(field, target, collector, accepted);
            } else {
                own.search(in, target, collector, accepted);
            }
        }

        @Override
        public void searchNearestVectors(String field, byte[] target, KnnCollector collector, AcceptDocs accepted)
                throws IOException {
            StockGraphs.Field own = own(field);
            if (own == null) {
                in.searchNearestVectors(field, target, collector, accepted);
            } else {
                own.search(in, target, collector, accepted);
            }
        }

        @Override
        public @Nullable FloatVectorValues getFloatVectorValues(String field) throws IOException {
            FloatVectorValues values = in.getFloatVectorValues(field);
            StockGraphs.Field own = own(field);
            return values != null && own != null && own.quantized() ? new UnquantizedScores(values) : values;
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
