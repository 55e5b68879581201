package io.github.roost.index.ivf.kernel;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.vector.Metric;
import io.github.roost.vector.memory.ScratchMemory;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows picked from runs, to be compared with one query; the memory is reused. Fill with {@link #begin} and
 * {@link #add}, pass to a kernel, copy distances and ids, then {@link #clear}. Belongs to one
 * thread at a time.
 */
public final class RowPicks {
    /** Max picks whose memory is kept: three megabytes. */
    private static final int MAX_KEPT = 65_536;

    /** {@code struct picks} in scan.h. */
    static final StructLayout LAYOUT = MemoryLayout.structLayout(
            ADDRESS.withName("rows"),
            ADDRESS.withName("row_ids"),
            ADDRESS.withName("query"),
            ADDRESS.withName("distances"),
            ADDRESS.withName("ids"),
            JAVA_LONG.withName("count"),
            JAVA_LONG.withName("stride"),
            JAVA_INT.withName("inner_product"),
            JAVA_FLOAT.withName("bias"));

    private static final VarHandle ROWS = field("rows");
    private static final VarHandle ROW_IDS = field("row_ids");
    private static final VarHandle QUERY = field("query");
    private static final VarHandle DISTANCES = field("distances");
    private static final VarHandle IDS = field("ids");
    private static final VarHandle COUNT = field("count");
    private static final VarHandle STRIDE = field("stride");
    private static final VarHandle INNER_PRODUCT = field("inner_product");
    private static final VarHandle BIAS = field("bias");

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** The arguments of a comparison in C. */
    private final MemorySegment arguments = ScratchMemory.allocate(LAYOUT.byteSize());

    MemorySegment query = MemorySegment.NULL;
    private MemorySegment addresses = MemorySegment.NULL;
    private MemorySegment idAddresses = MemorySegment.NULL;
    MemorySegment distances = MemorySegment.NULL;
    MemorySegment ids = MemorySegment.NULL;
    int stride;
    boolean innerProduct;
    float bias;

    /** The runs of the picked rows; these references keep their memory from being freed. */
    private final List<RowRun> runs = new ArrayList<>();

    private int size;
    /** Per pick: the index of its run, its row in the run, and the addresses of the row and of its id. */
    private int[] runOf = {};

    private int[] rows = {};
    private long[] addressOf = {};
    private long[] idAddressOf = {};

    /** Of the last run, which the next row is likely to be in. */
    private long count;

    private long vectorsAt;
    private long idsAt;

    /** Removes all rows and makes room for {@code count} picks. */
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
            // Last, as its length is the room: if memory runs out, the picks stay usable.
            rows = new int[room];
        }
    }

    /** Picks a row of floats. */
    @SuppressWarnings("ReferenceEquality") // runs of equal contents lie at different addresses
    public void add(RowRun run, int row) {
        if (runs.isEmpty() || runs.getLast() != run) {
            if (run.stride() != stride || run.componentBytes() != Float.BYTES) {
                throw new IllegalArgumentException("rows must be floats of stride " + stride + ", got stride "
                        + run.stride() + " and " + run.componentBytes() + " bytes per component");
            }
            runs.add(run);
            count = run.count();
            vectorsAt = run.vectors().address();
            idsAt = run.ids().address();
        }
        if (row < 0 || row >= count) {
            throw new IllegalArgumentException("row must be between 0 and " + (count - 1) + ", got " + row);
        }
        if (size == rows.length) {
            throw new IllegalArgumentException("at most " + size + " rows can be picked, got one more");
        }
        runOf[size] = runs.size() - 1;
        rows[size] = row;
        addressOf[size] = vectorsAt + (long) row * stride * Float.BYTES;
        idAddressOf[size] = idsAt + (long) row * Long.BYTES;
        size++;
    }

    private static VarHandle field(String name) {
        return LAYOUT.varHandle(groupElement(name));
    }

    /** Writes the arguments of a comparison; this must stay reachable until the call returns. */
    MemorySegment arguments() {
        MemorySegment.copy(addressOf, 0, addresses, LONG, 0, size);
        MemorySegment.copy(idAddressOf, 0, idAddresses, LONG, 0, size);
        ROWS.set(arguments, 0L, addresses);
        ROW_IDS.set(arguments, 0L, idAddresses);
        QUERY.set(arguments, 0L, query);
        DISTANCES.set(arguments, 0L, distances);
        IDS.set(arguments, 0L, ids);
        COUNT.set(arguments, 0L, (long) size);
        STRIDE.set(arguments, 0L, (long) stride);
        INNER_PRODUCT.set(arguments, 0L, innerProduct ? 1 : 0);
        BIAS.set(arguments, 0L, bias);
        return arguments;
    }

    /** The run of a picked row. */
    RowRun run(int pick) {
        return runs.get(runOf[pick]);
    }

    /** The number of a picked row in its run. */
    int row(int pick) {
        return rows[pick];
    }

    /** Drops the references to runs, and memory larger than most searches need. */
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

    /** The distances that a kernel has computed, in the order of the picks; NaN for a deleted row. */
    public float[] copyOfDistances() {
        float[] copy = new float[size()];
        MemorySegment.copy(distances, FLOAT, 0, copy, 0, copy.length);
        return copy;
    }

    /** The ids that a kernel has copied, in the order of the picks. */
    public long[] copyOfIds() {
        long[] copy = new long[size()];
        MemorySegment.copy(ids, LONG, 0, copy, 0, copy.length);
        return copy;
    }
}
