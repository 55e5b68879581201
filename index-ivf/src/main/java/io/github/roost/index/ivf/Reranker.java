package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.RowPicks;
import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.memory.ScratchMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Computes the distances from a query to the rows of its shortlist: to the rows' floats if these are stored, else to
 * the decoded rows. Distances are bit-equal to a scan of floats. Thread-safe.
 */
final class Reranker {
    private final ScanKernel kernel;
    private final Metric metric;
    private final int dimension;

    Reranker(ScanKernel kernel, Metric metric, int dimension) {
        this.kernel = kernel;
        this.metric = metric;
        this.dimension = dimension;
    }

    /** The kernel that computes distances. */
    ScanKernel kernel() {
        return kernel;
    }

    /** The nearest of the shortlist, within the radius. */
    SearchResult nearest(Shortlist shortlist, IvfRequest request, boolean mayRepeat) {
        RowPicks picks = Scratch.PICKS.take();
        long[] ids;
        float[] distances;
        try {
            picks.begin(metric, request.vector(), shortlist.size());
            compare(shortlist, picks);
            ids = picks.copyOfIds();
            distances = picks.copyOfDistances();
        } finally {
            picks.clear();
            Scratch.PICKS.giveBack(picks);
        }
        // Drops removed rows, whose distance is NaN.
        int found = NearestFirst.keepWithin(request.radius(), ids, distances);
        return mayRepeat
                ? NearestFirst.distinct(kernel, ids, distances, found, request.k())
                : NearestFirst.of(kernel, ids, distances, found, request.k());
    }

    private void compare(Shortlist shortlist, RowPicks picks) {
        for (int i = 0; i < shortlist.size(); i++) {
            if (!shortlist.block(i).keepsFloats()) {
                compareDecoded(shortlist, picks, i);
                return;
            }
            picks.add(shortlist.block(i).floats(), shortlist.row(i));
        }
        kernel.compare(picks);
    }

    /** Adds the rows from {@code from} on; those in the buffer have floats. */
    private void compareDecoded(Shortlist shortlist, RowPicks picks, int from) {
        DecodedRows memory = Scratch.DECODED.take();
        try {
            RowRun decoded = memory.of(shortlist, dimension);
            for (int i = from; i < shortlist.size(); i++) {
                RowBlock block = shortlist.block(i);
                if (block.keepsFloats()) {
                    picks.add(block.floats(), shortlist.row(i));
                } else {
                    picks.add(decoded, i);
                }
            }
            kernel.compare(picks);
        } finally {
            Scratch.DECODED.giveBack(memory);
        }
    }

    /** Contiguous decoded copies of rows of which only codes are stored; the memory is reused per query. Belongs to one thread at a time. */
    static final class DecodedRows {
        private MemorySegment vectors = MemorySegment.NULL;
        private MemorySegment ids = MemorySegment.NULL;

        /** The rows of a shortlist, valid until the next call. */
        RowRun of(Shortlist shortlist, int dimension) {
            int stride = RowRun.strideOf(dimension);
            long bytes = (long) shortlist.size() * stride * Float.BYTES;
            vectors = ScratchMemory.roomFor(vectors, bytes);
            ids = ScratchMemory.roomFor(ids, (long) shortlist.size() * Long.BYTES);
            // Padding may hold rows of another table.
            vectors.asSlice(0, bytes).fill((byte) 0);
            for (int i = 0; i < shortlist.size(); i++) {
                if (shortlist.block(i).keepsFloats()) {
                    continue;
                }
                float[] row = shortlist.block(i).decoded(shortlist.row(i));
                MemorySegment.copy(row, 0, vectors, ValueLayout.JAVA_FLOAT, (long) i * stride * Float.BYTES, dimension);
                ids.setAtIndex(ValueLayout.JAVA_LONG, i, shortlist.id(i));
            }
            return new RowRun(vectors, ids, shortlist.size(), stride);
        }
    }
}
