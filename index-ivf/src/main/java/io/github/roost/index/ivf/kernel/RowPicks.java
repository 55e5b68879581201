package io.github.roost.index.ivf.kernel;

import io.github.roost.core.Metric;
import io.github.roost.core.ScratchMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows picked from runs, to be compared with one query; its memory is kept from query to query. Fill with {@link #begin} and
 * {@link #add}, hand to a kernel, copy distances and ids, then {@link #clear}. Belongs to one
 * thread at a time.
 */
public final class RowPicks {
    /** Three megabytes. */
    private static final int MAX_KEPT = 65_536;

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    MemorySegment query = MemorySegment.NULL;
    private MemorySegment addresses = MemorySegment.NULL;
    private MemorySegment idAddresses = MemorySegment.NULL;
    MemorySegment distances = MemorySegment.NULL;
    MemorySegment ids = MemorySegment.NULL;
    int stride;
    boolean innerProduct;
    float bias;

    /** The runs that rows were picked from, which also keeps their memory from being freed. */
    private final List<RowRun> runs = new ArrayList<>();

    private int size;
    /** By pick: its run's number, its row there, and where this and its id lie. */
    private int[] runOf = {};

    private int[] rows = {};
    private long[] addressOf = {};
    private long[] idAddressOf = {};

    /** Of the last run, which the next row is likely to be of. */
    private long count;

    private long vectorsAt;
    private long idsAt;

    /** Forgets all rows; {@code count} at most are to come. */
    public void begin(Metric metric, float[] vector, int count) {
        clear();
        stride = RowRun.strideOf(vector.length);
        innerProduct = metric != Metric.SQUARED_L2;
        bias = metric == Metric.COSINE ? 1 : 0;
        query = ScratchMemory.roomFor(query, (long) stride * Float.BYTES);
        query.fill((byte) 0);
        MemorySegment.copy(vector, 0, query, FLOAT, 0, vector.length);
        addresses = ScratchMemory.roomFor(addresses, (long) count * Long.BYTES);
        idAddresses = ScratchMemory.roomFor(idAddresses, (long) count * Long.BYTES);
        distances = ScratchMemory.roomFor(distances, (long) count * Float.BYTES);
        ids = ScratchMemory.roomFor(ids, (long) count * Long.BYTES);
        if (rows.length < count) {
            int room = count + count / 2;
            runOf = new int[room];
            addressOf = new long[room];
            idAddressOf = new long[room];
            // The last, for its length says what there is room for: whatever finds no memory leaves the picks usable.
            rows = new int[room];
        }
    }

    /** Picks a row of floats. */
    @SuppressWarnings("ReferenceEquality") // runs of equal contents lie at different addresses
    public void add(RowRun run, int row) {
        if (runs.isEmpty() || runs.getLast() != run) {
            if (run.stride() != stride || run.componentBytes() != Float.BYTES) {
                throw new IllegalArgumentException("picks of stride " + stride + " take no rows of stride "
                        + run.stride() + " and " + run.componentBytes() + " bytes per component");
            }
            runs.add(run);
            count = run.count();
            vectorsAt = run.vectors().address();
            idsAt = run.ids().address();
        }
        if (row < 0 || row >= count || size == rows.length) {
            throw new IllegalArgumentException("picks take no row " + row + " of " + count + " beside " + size);
        }
        runOf[size] = runs.size() - 1;
        rows[size] = row;
        addressOf[size] = vectorsAt + (long) row * stride * Float.BYTES;
        idAddressOf[size] = idsAt + (long) row * Long.BYTES;
        size++;
    }

    /** Where the picked rows lie, for kernels that follow addresses. */
    MemorySegment addresses() {
        MemorySegment.copy(addressOf, 0, addresses, LONG, 0, size);
        return addresses;
    }

    /** Where their ids lie. */
    MemorySegment idAddresses() {
        MemorySegment.copy(idAddressOf, 0, idAddresses, LONG, 0, size);
        return idAddresses;
    }

    /** The run that a row was picked from. */
    RowRun run(int pick) {
        return runs.get(runOf[pick]);
    }

    /** A picked row's place in its run. */
    int row(int pick) {
        return rows[pick];
    }

    /** Lets the runs go, and memory that few searches need. */
    public void clear() {
        runs.clear();
        size = 0;
        if (rows.length > MAX_KEPT) {
            runOf = new int[0];
            rows = new int[0];
            addressOf = new long[0];
            idAddressOf = new long[0];
            addresses = MemorySegment.NULL;
            idAddresses = MemorySegment.NULL;
            distances = MemorySegment.NULL;
            ids = MemorySegment.NULL;
        }
    }

    /** Number of rows picked. */
    public int size() {
        return size;
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
