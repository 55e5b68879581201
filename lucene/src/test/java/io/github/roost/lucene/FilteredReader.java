package io.github.roost.lucene;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.jspecify.annotations.Nullable;

/** Readers that filter what a caller may see of a segment's vectors. */
final class FilteredReader extends FilterDirectoryReader {
    private final UnaryOperator<LeafReader> filter;

    private FilteredReader(DirectoryReader in, UnaryOperator<LeafReader> filter) throws IOException {
        super(in, new SubReaderWrapper() {
            @Override
            public LeafReader wrap(LeafReader segment) {
                return filter.apply(segment);
            }
        });
        this.filter = filter;
    }

    /** A reader without fields, though all documents are there. */
    static DirectoryReader hiding(DirectoryReader reader) throws IOException {
        return new FilteredReader(reader, Hiding::new);
    }

    /** A reader that counts searches of vectors. */
    static DirectoryReader counting(DirectoryReader reader, AtomicInteger searches) throws IOException {
        return new FilteredReader(reader, segment -> new Counting(segment, searches));
    }

    @Override
    protected DirectoryReader doWrapDirectoryReader(DirectoryReader reopened) throws IOException {
        return new FilteredReader(reopened, filter);
    }

    @Override
    public @Nullable CacheHelper getReaderCacheHelper() {
        return in.getReaderCacheHelper();
    }

    /** A segment's reader, under the keys of the segment itself. */
    abstract static class Segment extends FilterLeafReader {
        Segment(LeafReader in) {
            super(in);
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

    private static final class Hiding extends Segment {
        Hiding(LeafReader in) {
            super(in);
        }

        @Override
        public FieldInfos getFieldInfos() {
            return FieldInfos.EMPTY;
        }

        @Override
        public @Nullable FloatVectorValues getFloatVectorValues(String field) {
            return null;
        }

        @Override
        public void searchNearestVectors(String field, float[] target, KnnCollector collector, AcceptDocs accepted) {}
    }

    private static final class Counting extends Segment {
        private final AtomicInteger searches;

        Counting(LeafReader in, AtomicInteger searches) {
            super(in);
            this.searches = searches;
        }

        @Override
        public void searchNearestVectors(String field, float[] target, KnnCollector collector, AcceptDocs accepted)
                throws IOException {
            searches.incrementAndGet();
            in.searchNearestVectors(field, target, collector, accepted);
        }
    }
}
