package io.github.roost.examples.lucene;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Weight;

/**
 * Searches each segment at its home. Lucene's {@code TaskExecutor} gets virtual threads, which do nothing but hand their
 * segment on and wait: that all segments are under way at once costs no core.
 */
final class SegmentSearcher extends IndexSearcher {
    private final SegmentHomes homes;

    SegmentSearcher(SegmentReaders reader) {
        super(reader, Thread::startVirtualThread);
        this.homes = reader.homes();
    }

    /** Each segment by itself: segments of one slice would wait for each other. */
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
