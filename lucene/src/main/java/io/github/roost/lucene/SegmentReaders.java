package io.github.roost.lucene;

import io.github.roost.core.MappingId;
import java.io.IOException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.jspecify.annotations.Nullable;

/** A reader whose segments have homes, and run vector searches there. */
final class SegmentReaders extends FilterDirectoryReader {
    private final SegmentHomes homes;

    SegmentReaders(DirectoryReader in, SegmentHomes homes) throws IOException {
        super(in, new SubReaderWrapper() {
            @Override
            public LeafReader wrap(LeafReader segment) {
                return new Segment(segment, homes);
            }
        });
        this.homes = homes;
    }

    SegmentHomes homes() {
        return homes;
    }

    @Override
    protected DirectoryReader doWrapDirectoryReader(DirectoryReader reopened) throws IOException {
        return new SegmentReaders(reopened, homes);
    }

    @Override
    public @Nullable CacheHelper getReaderCacheHelper() {
        return in.getReaderCacheHelper();
    }

    /** A view of a segment. It has the same documents as the wrapped segment, so it shares its cache keys. */
    static final class Segment extends FilterLeafReader {
        private final SegmentHomes homes;
        private final MappingId home;

        Segment(LeafReader in, SegmentHomes homes) {
            super(in);
            this.homes = homes;
            this.home = homes.idOf(in);
        }

        MappingId home() {
            return home;
        }

        @Override
        public void searchNearestVectors(String field, float[] target, KnnCollector collector, AcceptDocs accept)
                throws IOException {
            search(
                    collector,
                    target.length * Float.BYTES,
                    () -> in.searchNearestVectors(field, target, collector, accept));
        }

        @Override
        public void searchNearestVectors(String field, byte[] target, KnnCollector collector, AcceptDocs accept)
                throws IOException {
            search(collector, target.length, () -> in.searchNearestVectors(field, target, collector, accept));
        }

        /** Runs a search of vectors at home, and counts the vectors that the collector has seen. */
        void search(KnnCollector collector, int vectorBytes, LeafSearch leafSearch) throws IOException {
            if (!homes.atHome()) {
                long before = collector.visitedCount();
                leafSearch.run();
                long visited = collector.visitedCount() - before;
                homes.touched(home, visited, visited * vectorBytes);
                return;
            }
            homes.runAt(home, (id, context) -> {
                long before = collector.visitedCount();
                leafSearch.run();
                long visited = collector.visitedCount() - before;
                context.touched(visited, visited * vectorBytes);
                return true;
            });
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

    /** A search of vectors. */
    interface LeafSearch {
        void run() throws IOException;
    }
}
