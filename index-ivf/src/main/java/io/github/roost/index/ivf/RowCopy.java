package io.github.roost.index.ivf;

import io.github.roost.topology.system.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A snapshot of rows and their ids that a rebuild trains on. Off-heap, as it may be larger than the heap, like the table's
 * rows. One thread adds rows; then any number of threads read them.
 */
final class RowCopy implements AutoCloseable {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    /** Size of a piece of memory, unless one row is longer. */
    private static final int PIECE_BYTES = 4 << 20;

    private final Arena arena = Arena.ofShared();
    private final List<MemorySegment> pieces = new ArrayList<>();
    private final int dimension;
    private final int rowsPerPiece;
    private long[] ids;
    private int count;

    /** @param expected expected number of rows; there may be more */
    RowCopy(int expected, int dimension) {
        this.dimension = dimension;
        this.rowsPerPiece = Math.max(1, PIECE_BYTES / (dimension * Float.BYTES));
        this.ids = new long[expected];
    }

    void add(long id, float[] row) {
        if (count == ids.length) {
            ids = Arrays.copyOf(ids, 2 * count);
        }
        if (count == pieces.size() * rowsPerPiece) {
            pieces.add(DomainMemory.allocateUncounted((long) rowsPerPiece * dimension * Float.BYTES, arena));
        }
        MemorySegment.copy(row, 0, pieces.getLast(), FLOAT, offset(count), dimension);
        ids[count++] = id;
    }

    private long offset(int row) {
        return (long) (row % rowsPerPiece) * dimension * Float.BYTES;
    }

    /** A copy of a row, by its ordinal. */
    float[] row(int ordinal) {
        float[] row = new float[dimension];
        MemorySegment.copy(pieces.get(ordinal / rowsPerPiece), FLOAT, offset(ordinal), row, 0, dimension);
        return row;
    }

    long[] ids() {
        return Arrays.copyOf(ids, count);
    }

    int count() {
        return count;
    }

    @Override
    public void close() {
        arena.close();
    }
}
