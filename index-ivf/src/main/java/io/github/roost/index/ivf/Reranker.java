package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.index.ivf.kernel.RowPicks;
import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Compares a query with the rows of its shortlist by the distance itself: to the rows' floats where these are kept, else to
 * what their codes stand for. Distances have the bits that a scan of floats would give. Thread-safe.
 */
final class Reranker {
    private static final ThreadLocal<RowPicks> PICKS = ThreadLocal.withInitial(RowPicks::new);
    private static final ThreadLocal<Decoded> DECODED = ThreadLocal.withInitial(Decoded::new);

    private final ScanKernel kernel;
    private final Metric metric;
    private final int dimension;

    Reranker(ScanKernel kernel, Metric metric, int dimension) {
        this.kernel = kernel;
        this.metric = metric;
        this.dimension = dimension;
    }

    /** What compares. */
    ScanKernel kernel() {
        return kernel;
    }

    /** The nearest of the shortlist, within the radius. */
    Neighbors nearest(Shortlist shortlist, SearchRequest request, boolean mayRepeat) {
        RowPicks picks = PICKS.get();
        picks.begin(metric, request.vector(), shortlist.size());
        if (shortlist.size() > 0 && !shortlist.block(0).keepsFloats()) {
            RowRun decoded = DECODED.get().rows(shortlist, dimension);
            for (int i = 0; i < shortlist.size(); i++) {
                picks.add(decoded, i);
            }
        } else {
            for (int i = 0; i < shortlist.size(); i++) {
                picks.add(shortlist.block(i).floats(), shortlist.row(i));
            }
        }
        kernel.compare(picks);

        long[] ids = picks.copyOfIds();
        float[] distances = picks.copyOfDistances();
        picks.clear();
        // Without rows that have been removed, whose distance is no number.
        int found = NearestFirst.keepWithin(request.radius(), ids, distances);
        return mayRepeat
                ? NearestFirst.distinct(kernel, ids, distances, found, request.k())
                : NearestFirst.of(kernel, ids, distances, found, request.k());
    }

    /** Rows that codes stand for, side by side, in memory that is kept from query to query. Belongs to one thread. */
    private static final class Decoded {
        private MemorySegment vectors = MemorySegment.NULL;
        private MemorySegment ids = MemorySegment.NULL;

        RowRun rows(Shortlist shortlist, int dimension) {
            int stride = RowRun.strideOf(dimension);
            long bytes = (long) shortlist.size() * stride * Float.BYTES;
            if (vectors.byteSize() < bytes) {
                vectors = Arena.ofAuto().allocate(bytes + bytes / 2, 64);
            }
            if (ids.byteSize() < (long) shortlist.size() * Long.BYTES) {
                ids = Arena.ofAuto().allocate((long) shortlist.size() * 2 * Long.BYTES, 64);
            }
            // What another table has left where rows are padded.
            vectors.asSlice(0, bytes).fill((byte) 0);
            for (int i = 0; i < shortlist.size(); i++) {
                float[] row = shortlist.block(i).decoded(shortlist.row(i));
                MemorySegment.copy(row, 0, vectors, ValueLayout.JAVA_FLOAT, (long) i * stride * Float.BYTES, dimension);
                ids.setAtIndex(ValueLayout.JAVA_LONG, i, shortlist.id(i));
            }
            return new RowRun(vectors, ids, shortlist.size(), stride);
        }
    }
}
