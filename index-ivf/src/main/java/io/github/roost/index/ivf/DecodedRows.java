package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.vector.spi.ScratchMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Contiguous decoded copies of rows of which only codes are stored; the memory is reused per query. Belongs to one thread at a time. */
final class DecodedRows {
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
            float[] row = shortlist.block(i).decoded(shortlist.row(i));
            MemorySegment.copy(row, 0, vectors, ValueLayout.JAVA_FLOAT, (long) i * stride * Float.BYTES, dimension);
            ids.setAtIndex(ValueLayout.JAVA_LONG, i, shortlist.id(i));
        }
        return new RowRun(vectors, ids, shortlist.size(), stride);
    }
}
