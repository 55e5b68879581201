package io.github.roost.lucene;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Weight;

/**
 * Searches each segment on its home domain. Lucene's {@code TaskExecutor} gets virtual threads, which only submit their
 * segment's search and wait for it, so searching all segments at once occupies no extra core.
 *
 * <p>A search that runs inside a worker's task gets no virtual threads. The worker would block on them without running their
 * searches, and all workers could block like this. Instead it submits the segments one by one: while it waits for a search, a
 * worker runs queued tasks.
 */
final class SegmentSearcher extends IndexSearcher {
    private final SegmentHomes homes;

    SegmentSearcher(SegmentReaders reader) {
        super(reader, reader.homes()::fork);
        this.homes = reader.homes();
    }

    /** One slice per segment, because the segments of a slice would be searched one after the other. */
    @Override
    protected LeafSlice[] slices(List<LeafReaderContext> leaves) {
        return slices(leaves, 0, 1, false);
    }

    @Override
    protected void searchLeaf(LeafReaderContext leaf, int from, int to, Weight weight, Collector collector)
            throws IOException {
        SegmentReaders.Segment segment = (SegmentReaders.Segment) leaf.reader();
        homes.runAt(segment.home(), (id, context) -> {
            super.searchLeaf(leaf, from, to, weight, collector);
            return true;
        });
    }
}
