package io.github.roost.index.ivf.kernel;

import io.github.roost.core.Metric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows picked from runs, to be compared with one query; its memory is kept from query to query. Fill with {@link #begin} and
 * {@link #add}, hand to a kernel, read the {@link #distance distances}, then {@link #clear}. Belongs to one thread.
 */
public final class RowPicks {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    MemorySegment query = MemorySegment.NULL;
    MemorySegment addresses = MemorySegment.NULL;
    MemorySegment distances = MemorySegment.NULL;
    int stride;
    boolean innerProduct;
    float bias;

    /** The picked rows' runs, which also keeps their memory from being freed, and their places in these. */
    final List<RowRun> runs = new ArrayList<>();

    int[] rows = new int[0];

    /** Forgets all rows; {@code count} at most are to come. */
    public void begin(Metric metric, float[] vector, int count) {
        clear();
        stride = RowRun.strideOf(vector.length);
        innerProduct = metric != Metric.SQUARED_L2;
        bias = metric == Metric.COSINE ? 1 : 0;
        query = roomFor(query, (long) stride * Float.BYTES);
        query.fill((byte) 0);
        MemorySegment.copy(vector, 0, query, FLOAT, 0, vector.length);
        addresses = roomFor(addresses, (long) count * Long.BYTES);
        distances = roomFor(distances, (long) count * Float.BYTES);
        if (rows.length < count) {
            rows = new int[count + count / 2];
        }
    }

    private static MemorySegment roomFor(MemorySegment segment, long bytes) {
        return segment.byteSize() >= bytes ? segment : Arena.ofAuto().allocate(bytes + bytes / 2, 64);
    }

    /** Picks a row. */
    public void add(RowRun run, int row) {
        if (run.stride() != stride || row < 0 || row >= run.count() || runs.size() == rows.length) {
            throw new IllegalArgumentException("picks of stride " + stride + " take no row " + row + " of "
                    + run.count() + " of stride " + run.stride() + " beside " + runs.size());
        }
        long address = run.vectors().address() + (long) row * stride * Float.BYTES;
        addresses.setAtIndex(ValueLayout.JAVA_LONG, runs.size(), address);
        rows[runs.size()] = row;
        runs.add(run);
    }

    /** Lets the runs go. */
    public void clear() {
        runs.clear();
    }

    /** Number of rows picked. */
    public int size() {
        return runs.size();
    }

    /** The distance that a kernel has found for the row picked as number {@code index}; not a number for a row that is none. */
    public float distance(int index) {
        return distances.getAtIndex(FLOAT, index);
    }
}
