package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.RowRun;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Where the rows of a table live: off-heap, list after list, each a run of padded rows beside a run of ids. The memory
 * is freed once nothing refers to it, so a scan that has begun can finish whatever happens to the table.
 *
 * <p>Written while it is built, each place by one thread; read-only once published.
 */
final class InvertedLists {
    private final int stride;
    private final int[] sizes;
    private final long[] firsts;
    private final MemorySegment vectors;
    private final MemorySegment ids;
    private final RowRun[] runs;

    /** @param sizes number of rows of each list */
    InvertedLists(int dimension, int[] sizes) {
        this.stride = RowRun.strideOf(dimension);
        this.sizes = sizes.clone();
        this.firsts = new long[sizes.length];
        long rows = 0;
        for (int list = 0; list < sizes.length; list++) {
            firsts[list] = rows;
            rows += sizes[list];
        }
        Arena arena = Arena.ofAuto();
        this.vectors = arena.allocate(Math.max(1, rows) * rowBytes(), 64);
        this.ids = arena.allocate(Math.max(1, rows) * Long.BYTES, 64);
        RowRun all = new RowRun(vectors, ids, rows, stride);
        this.runs = new RowRun[sizes.length];
        for (int list = 0; list < sizes.length; list++) {
            runs[list] = all.slice(firsts[list], firsts[list] + sizes[list]);
        }
    }

    /** Writes row {@code at} of a list. */
    void write(int list, int at, long id, float[] vector) {
        if (at < 0 || at >= sizes[list]) {
            throw new IndexOutOfBoundsException("list " + list + " has " + sizes[list] + " rows, got " + at);
        }
        long row = firsts[list] + at;
        MemorySegment.copy(vector, 0, vectors, ValueLayout.JAVA_FLOAT, row * rowBytes(), vector.length);
        ids.setAtIndex(ValueLayout.JAVA_LONG, row, id);
    }

    RowRun list(int list) {
        return runs[list];
    }

    int size(int list) {
        return sizes[list];
    }

    private long rowBytes() {
        return (long) stride * Float.BYTES;
    }
}
