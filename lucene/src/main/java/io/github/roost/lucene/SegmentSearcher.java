package io.github.roost.lucene;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Weight;

/**
 * Searches each segment at its home. Lucene's {@code TaskExecutor} gets virtual threads, which do nothing but hand their
 * segment on and wait: that all segments are under way at once costs no core.
 *
 * <p>A search that is itself inside a task of a worker gets none. Its thread would wait for them without running what they
 * wait for, and all workers could be such. It goes through the segments itself: waiting for one, a worker runs what it
 * waits for.
 */
final class SegmentSearcher extends IndexSearcher {
    private final SegmentHomes homes;

    SegmentSearcher(SegmentReaders reader) {
        super(reader, reader.homes()::fork);
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
