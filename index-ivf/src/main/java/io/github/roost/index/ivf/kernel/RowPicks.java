package io.github.roost.index.ivf.kernel;

import io.github.roost.core.Metric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows picked from runs, to be compared with one query; its memory is kept from query to query. Fill with {@link #begin} and
 * {@link #add}, hand to a kernel, copy distances and ids, then {@link #clear}. Belongs to one thread.
 */
public final class RowPicks {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    MemorySegment query = MemorySegment.NULL;
    MemorySegment addresses = MemorySegment.NULL;
    MemorySegment idAddresses = MemorySegment.NULL;
    MemorySegment distances = MemorySegment.NULL;
    MemorySegment ids = MemorySegment.NULL;
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
        idAddresses = roomFor(idAddresses, (long) count * Long.BYTES);
        distances = roomFor(distances, (long) count * Float.BYTES);
        ids = roomFor(ids, (long) count * Long.BYTES);
        if (rows.length < count) {
            rows = new int[count + count / 2];
        }
    }

    private static MemorySegment roomFor(MemorySegment segment, long bytes) {
        return segment.byteSize() >= bytes ? segment : Arena.ofAuto().allocate(bytes + bytes / 2, 64);
    }

    /** Picks a row of floats. */
    public void add(RowRun run, int row) {
        if (run.stride() != stride
                || run.componentBytes() != Float.BYTES
                || row < 0
                || row >= run.count()
                || runs.size() == rows.length) {
            throw new IllegalArgumentException("picks of stride " + stride + " take no row " + row + " of "
                    + run.count() + " of stride " + run.stride() + " beside " + runs.size());
        }
        long address = run.vectors().address() + (long) row * stride * Float.BYTES;
        addresses.setAtIndex(LONG, runs.size(), address);
        idAddresses.setAtIndex(LONG, runs.size(), run.ids().address() + (long) row * Long.BYTES);
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

    /** The distances that a kernel has found, in the order of the picks; not a number for a row that is none. */
    public float[] copyOfDistances() {
        float[] copy = new float[size()];
        MemorySegment.copy(distances, FLOAT, 0, copy, 0, copy.length);
        return copy;
    }

    /** The ids of the rows that a kernel has compared, in the order of the picks. */
    public long[] copyOfIds() {
        long[] copy = new long[size()];
        MemorySegment.copy(ids, LONG, 0, copy, 0, copy.length);
        return copy;
    }
}
