package io.github.roost.lucene;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.jspecify.annotations.Nullable;

/** A reader that notes which threads search the vectors of which segment. */
final class WatchedReader extends FilterDirectoryReader {
    private final ConcurrentMap<IndexReader.CacheKey, Set<String>> searchers;

    WatchedReader(DirectoryReader in) throws IOException {
        this(in, new ConcurrentHashMap<>());
    }

    private WatchedReader(DirectoryReader in, ConcurrentMap<IndexReader.CacheKey, Set<String>> searchers)
            throws IOException {
        super(in, new SubReaderWrapper() {
            @Override
            public LeafReader wrap(LeafReader segment) {
                return new Watched(segment, searchers);
            }
        });
        this.searchers = searchers;
    }

    /** Names of the threads that searched a segment. */
    Set<String> searchersOf(LeafReader segment) {
        return searchers.getOrDefault(segment.getCoreCacheHelper().getKey(), Set.of());
    }

    @Override
    protected DirectoryReader doWrapDirectoryReader(DirectoryReader reopened) throws IOException {
        return new WatchedReader(reopened, searchers);
    }

    @Override
    public @Nullable CacheHelper getReaderCacheHelper() {
        return in.getReaderCacheHelper();
    }

    private static final class Watched extends FilteredReader.Segment {
        private final ConcurrentMap<IndexReader.CacheKey, Set<String>> searchers;

        Watched(LeafReader in, ConcurrentMap<IndexReader.CacheKey, Set<String>> searchers) {
            super(in);
            this.searchers = searchers;
        }

        @Override
        public void searchNearestVectors(String field, float[] target, KnnCollector collector, AcceptDocs accept)
                throws IOException {
            searchers
                    .computeIfAbsent(in.getCoreCacheHelper().getKey(), key -> ConcurrentHashMap.newKeySet())
                    .add(Thread.currentThread().getName());
            in.searchNearestVectors(field, target, collector, accept);
        }
    }
}
