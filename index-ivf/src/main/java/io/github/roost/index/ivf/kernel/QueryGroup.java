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
 * Queries that scan together, in off-heap memory that is reused. Fill with {@link #begin} and
 * {@link #add}, pass to a kernel, then {@link #finish}. Belongs to one thread at a time.
 */
public final class QueryGroup {
    /** Max queries of a group. */
    public static final int MAX_QUERIES = 64;
    /** Max rows that a group finds, so that its memory stays within a few megabytes. */
    private static final int MAX_ROWS = 1 << 19;

    /** {@code struct scan} in scan.h. */
    static final StructLayout LAYOUT = MemoryLayout.structLayout(
            ADDRESS.withName("queries"),
            ADDRESS.withName("wanted"),
            ADDRESS.withName("sizes"),
            ADDRESS.withName("bounds"),
            ADDRESS.withName("found_distances"),
            ADDRESS.withName("found_ids"),
            JAVA_LONG.withName("room"),
            JAVA_LONG.withName("count"),
            JAVA_LONG.withName("stride"),
            JAVA_INT.withName("query_count"),
            JAVA_INT.withName("float16"),
            JAVA_INT.withName("inner_product"),
            JAVA_FLOAT.withName("bias"),
            ADDRESS.withName("rows"),
            ADDRESS.withName("ids"));

    private static final VarHandle QUERIES = field("queries");
    private static final VarHandle WANTED = field("wanted");
    private static final VarHandle SIZES = field("sizes");
    private static final VarHandle BOUNDS = field("bounds");
    private static final VarHandle FOUND_DISTANCES = field("found_distances");
    private static final VarHandle FOUND_IDS = field("found_ids");
    private static final VarHandle ROOM = field("room");
    private static final VarHandle COUNT = field("count");
    private static final VarHandle STRIDE = field("stride");
    private static final VarHandle QUERY_COUNT = field("query_count");
    private static final VarHandle FLOAT16 = field("float16");
    private static final VarHandle INNER_PRODUCT = field("inner_product");
    private static final VarHandle BIAS = field("bias");

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    MemorySegment queries = MemorySegment.NULL;
    MemorySegment foundDistances = MemorySegment.NULL;
    MemorySegment foundIds = MemorySegment.NULL;
    private MemorySegment floats = MemorySegment.NULL;
    final MemorySegment wanted;
    final MemorySegment sizes;
    final MemorySegment bounds;
    /** The arguments of a scan in C. */
    private final MemorySegment arguments;

    int stride;
    int room;
    boolean innerProduct;
    float bias;

    private final List<Reservoir> reservoirs = new ArrayList<>(MAX_QUERIES);

    /** An empty group; its memory lives as long as the group is reachable. */
    public QueryGroup() {
        long each = MAX_QUERIES * (long) Integer.BYTES;
        MemorySegment all = ScratchMemory.allocate(3 * each + LAYOUT.byteSize());
        this.wanted = all.asSlice(0, each);
        this.sizes = all.asSlice(each, each);
        this.bounds = all.asSlice(2 * each, each);
        this.arguments = all.asSlice(3 * each, LAYOUT);
    }

    private static VarHandle field(String name) {
        return LAYOUT.varHandle(groupElement(name));
    }

    /** Max number of queries that may scan together if each wants this many rows. */
    public static int limit(int rowsWanted) {
        return Math.clamp(MAX_ROWS / (2 * rowsWanted), 1, MAX_QUERIES);
    }

    /**
     * Empties the group.
     *
     * @param dimension length of the queries
     * @param maxWanted max rows that any of the queries wants; its {@link #limit} is the max number of queries
     */
    public void begin(Metric metric, int dimension, int maxWanted) {
        reservoirs.clear();
        stride = RowRun.strideOf(dimension);
        room = 2 * maxWanted;
        innerProduct = metric != Metric.SQUARED_L2;
        bias = metric == Metric.COSINE ? 1 : 0;
        int limit = limit(maxWanted);
        queries = ScratchMemory.roomFor(queries, (long) limit * stride * Float.BYTES);
        foundDistances = ScratchMemory.roomFor(foundDistances, (long) limit * room * Float.BYTES);
        foundIds = ScratchMemory.roomFor(foundIds, (long) limit * room * Long.BYTES);
    }

    /**
     * Adds a query.
     *
     * @param query of the dimension passed to {@link #begin}
     * @param reservoir the rows found so far; {@link #finish} updates it
     * @param bound max distance of rows to find
     */
    public void add(float[] query, Reservoir reservoir, float bound) {
        int index = reservoirs.size();
        int limit = limit(room / 2);
        if (index >= limit || 2 * reservoir.wanted() > room || RowRun.strideOf(query.length) != stride) {
            throw new IllegalArgumentException("a group of " + limit + " queries that want " + room / 2
                    + " rows, of stride " + stride + ", takes no query " + index + " of dimension " + query.length
                    + " that wants " + reservoir.wanted());
        }
        long at = (long) index * stride * Float.BYTES;
        MemorySegment.copy(query, 0, queries, FLOAT, at, query.length);
        long padding = (long) (stride - query.length) * Float.BYTES;
        if (padding > 0) {
            queries.asSlice(at + (long) query.length * Float.BYTES, padding).fill((byte) 0);
        }
        wanted.setAtIndex(INT, index, reservoir.wanted());
        sizes.setAtIndex(INT, index, reservoir.size);
        bounds.setAtIndex(FLOAT, index, Math.min(bound, reservoir.bound));
        long first = (long) index * room;
        MemorySegment.copy(reservoir.distances, 0, foundDistances, FLOAT, first * Float.BYTES, reservoir.size);
        MemorySegment.copy(reservoir.ids, 0, foundIds, LONG, first * Long.BYTES, reservoir.size);
        reservoirs.add(reservoir);
    }

    /** Room for a row as floats, for kernels that cannot scan float16; valid until the next call. */
    MemorySegment floats() {
        floats = ScratchMemory.roomFor(floats, (long) stride * Float.BYTES);
        return floats;
    }

    /** Writes the arguments of a scan; this must stay reachable until the call returns. */
    MemorySegment arguments(RowRun run) {
        QUERIES.set(arguments, 0L, queries);
        WANTED.set(arguments, 0L, wanted);
        SIZES.set(arguments, 0L, sizes);
        BOUNDS.set(arguments, 0L, bounds);
        FOUND_DISTANCES.set(arguments, 0L, foundDistances);
        FOUND_IDS.set(arguments, 0L, foundIds);
        ROOM.set(arguments, 0L, (long) room);
        COUNT.set(arguments, 0L, run.count());
        STRIDE.set(arguments, 0L, (long) run.stride());
        QUERY_COUNT.set(arguments, 0L, size());
        FLOAT16.set(arguments, 0L, run.componentBytes() == Short.BYTES ? 1 : 0);
        INNER_PRODUCT.set(arguments, 0L, innerProduct ? 1 : 0);
        BIAS.set(arguments, 0L, bias);
        return arguments;
    }

    /** Number of queries added. */
    public int size() {
        return reservoirs.size();
    }

    /** Copies the found rows back to the reservoirs. */
    public void finish() {
        for (int index = 0; index < reservoirs.size(); index++) {
            Reservoir reservoir = reservoirs.get(index);
            reservoir.resize(sizes.getAtIndex(INT, index));
            reservoir.bound = bounds.getAtIndex(FLOAT, index);
            long first = (long) index * room;
            MemorySegment.copy(foundDistances, FLOAT, first * Float.BYTES, reservoir.distances, 0, reservoir.size);
            MemorySegment.copy(foundIds, LONG, first * Long.BYTES, reservoir.ids, 0, reservoir.size);
        }
        reservoirs.clear();
    }
}
