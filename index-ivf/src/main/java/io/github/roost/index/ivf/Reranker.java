package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.index.ivf.kernel.QueryGroup;
import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.TopHeap;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Compares a query with the rows of its shortlist by the distance itself: to the rows' floats where these are kept, else to
 * what their codes stand for. The rows are laid side by side for the kernel that scans lists of floats, so distances have
 * the bits that such a list would give. Thread-safe.
 */
final class Reranker {
    private static final ThreadLocal<SideBySide> SIDE_BY_SIDE = ThreadLocal.withInitial(SideBySide::new);

    private final ScanKernel kernel;
    private final Metric metric;
    private final int dimension;

    Reranker(ScanKernel kernel, Metric metric, int dimension) {
        this.kernel = kernel;
        this.metric = metric;
        this.dimension = dimension;
    }

    /** Memory that is kept from query to query; belongs to one thread. */
    private static final class SideBySide {
        private final QueryGroup group = new QueryGroup();
        private MemorySegment vectors = MemorySegment.NULL;
        private MemorySegment ids = MemorySegment.NULL;

        RowRun rows(Shortlist shortlist, int dimension) {
            int stride = RowRun.strideOf(dimension);
            long rowBytes = (long) stride * Float.BYTES;
            vectors = roomFor(vectors, shortlist.size() * rowBytes);
            ids = roomFor(ids, (long) shortlist.size() * Long.BYTES);
            if (stride > dimension) {
                // What another table has left where rows are padded.
                vectors.asSlice(0, shortlist.size() * rowBytes).fill((byte) 0);
            }
            for (int i = 0; i < shortlist.size(); i++) {
                shortlist.copyRow(i, vectors, i * rowBytes);
                ids.setAtIndex(ValueLayout.JAVA_LONG, i, shortlist.id(i));
            }
            return new RowRun(vectors, ids, shortlist.size(), stride);
        }

        private static MemorySegment roomFor(MemorySegment segment, long bytes) {
            return segment.byteSize() >= bytes ? segment : Arena.ofAuto().allocate(bytes + bytes / 2, 64);
        }
    }

    /** The nearest of the shortlist. */
    Neighbors nearest(Shortlist shortlist, SearchRequest request, boolean mayRepeat) {
        if (shortlist.size() == 0) {
            return Neighbors.EMPTY;
        }
        int capacity = mayRepeat ? shortlist.size() : Math.min(request.k(), shortlist.size());
        TopHeap heap = new TopHeap(capacity);
        SideBySide side = SIDE_BY_SIDE.get();
        side.group.begin(metric, dimension, capacity);
        side.group.add(request.vector(), heap, request.radius());
        kernel.scan(side.rows(shortlist, dimension), side.group);
        side.group.finish();
        long[] ids = heap.copyOfIds();
        float[] distances = heap.copyOfDistances();
        return mayRepeat
                ? NearestFirst.distinct(ids, distances, request.k())
                : NearestFirst.of(ids, distances, request.k());
    }
}
