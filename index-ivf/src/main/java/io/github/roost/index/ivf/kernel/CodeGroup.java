package io.github.roost.index.ivf.kernel;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.roost.vector.memory.ScratchMemory;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Queries that scan codes together and the rows that a scan found for each, in off-heap memory that is reused.
 * Fill with {@link #begin} and {@link #add}; after each scan read the found rows and lower the bounds. Belongs to one
 * thread.
 *
 * <p>Rows that are near enough are appended, not kept in a heap: a run is short, and choosing the best of a buffer now and then
 * costs less than keeping them in order all the time.
 */
public final class CodeGroup {
    /** Max queries of a group. */
    public static final int MAX_QUERIES = 64;
    /** Max rows of a scan: few enough that bounds fall before many rows are appended in vain. */
    public static final int MAX_ROWS = 256;

    /** Kernels write whole tiles, so there is room for one after the last row. */
    static final int ROOM = MAX_ROWS + CodeRun.TILE;

    /** {@code struct codes} in codes.h. */
    static final StructLayout LAYOUT = MemoryLayout.structLayout(
            ADDRESS.withName("weights"),
            ADDRESS.withName("starts"),
            ADDRESS.withName("slopes"),
            ADDRESS.withName("bounds"),
            ADDRESS.withName("found"),
            ADDRESS.withName("rows"),
            ADDRESS.withName("scores"),
            JAVA_INT.withName("first"),
            JAVA_INT.withName("end"),
            JAVA_INT.withName("count"),
            JAVA_INT.withName("stride"),
            JAVA_INT.withName("query_count"),
            JAVA_INT.withName("room"),
            ADDRESS.withName("codes"),
            ADDRESS.withName("terms"));

    private static final VarHandle WEIGHTS = field("weights");
    private static final VarHandle STARTS = field("starts");
    private static final VarHandle SLOPES = field("slopes");
    private static final VarHandle BOUNDS = field("bounds");
    private static final VarHandle FOUND = field("found");
    private static final VarHandle ROWS = field("rows");
    private static final VarHandle SCORES = field("scores");
    private static final VarHandle FIRST = field("first");
    private static final VarHandle END = field("end");
    private static final VarHandle COUNT = field("count");
    private static final VarHandle STRIDE = field("stride");
    private static final VarHandle QUERY_COUNT = field("query_count");
    private static final VarHandle FIELD_ROOM = field("room");

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    MemorySegment weights = MemorySegment.NULL;
    /** Start values of the sums: they subtract 128 from every code at once, for kernels that multiply unsigned bytes. */
    final MemorySegment starts;

    final MemorySegment slopes;
    final MemorySegment bounds;
    final MemorySegment found;
    final MemorySegment rows;
    final MemorySegment scores;
    /** The arguments of a scan in C. */
    private final MemorySegment arguments;

    int stride;

    private final int[] copied = new int[ROOM];
    private int size;

    /** An empty group; its memory lives as long as the group is reachable. */
    public CodeGroup() {
        long small = MAX_QUERIES * (long) Integer.BYTES;
        long large = ROOM * small;
        MemorySegment all = ScratchMemory.allocate(4 * small + 2 * large + LAYOUT.byteSize());
        this.starts = all.asSlice(0, small);
        this.slopes = all.asSlice(small, small);
        this.bounds = all.asSlice(2 * small, small);
        this.found = all.asSlice(3 * small, small);
        this.rows = all.asSlice(4 * small, large);
        this.scores = all.asSlice(4 * small + large, large);
        this.arguments = all.asSlice(4 * small + 2 * large, LAYOUT);
    }

    private static VarHandle field(String name) {
        return LAYOUT.varHandle(groupElement(name));
    }

    /** Empties the group, for queries of {@code stride} weights. */
    public void begin(int stride) {
        this.stride = stride;
        this.size = 0;
        if (weights.byteSize() < (long) MAX_QUERIES * stride) {
            weights = ScratchMemory.allocate((long) MAX_QUERIES * stride);
        }
    }

    /**
     * Adds a query. A row's score is its term plus {@code slope} times the sum over components of (unsigned code less 128) times
     * weight.
     *
     * @param queryWeights {@code stride} weights from -127, 0 where rows are padded
     * @param sum of the weights
     * @param bound max score of rows to find
     */
    public void add(byte[] queryWeights, int sum, float slope, float bound) {
        if (size == MAX_QUERIES || queryWeights.length != stride) {
            throw new IllegalArgumentException("a group of " + MAX_QUERIES + " queries of " + stride
                    + " weights takes no query " + size + " of " + queryWeights.length);
        }
        MemorySegment.copy(queryWeights, 0, weights, ValueLayout.JAVA_BYTE, (long) size * stride, stride);
        starts.setAtIndex(INT, size, -128 * sum);
        slopes.setAtIndex(FLOAT, size, slope);
        bounds.setAtIndex(FLOAT, size, bound);
        size++;
    }

    /** Writes the arguments of a scan; this must stay reachable until the call returns. */
    MemorySegment arguments(CodeRun run, int from, int to) {
        WEIGHTS.set(arguments, 0L, weights);
        STARTS.set(arguments, 0L, starts);
        SLOPES.set(arguments, 0L, slopes);
        BOUNDS.set(arguments, 0L, bounds);
        FOUND.set(arguments, 0L, found);
        ROWS.set(arguments, 0L, rows);
        SCORES.set(arguments, 0L, scores);
        FIRST.set(arguments, 0L, from);
        END.set(arguments, 0L, to);
        COUNT.set(arguments, 0L, run.count());
        STRIDE.set(arguments, 0L, run.stride());
        QUERY_COUNT.set(arguments, 0L, size);
        FIELD_ROOM.set(arguments, 0L, ROOM);
        return arguments;
    }

    /** Number of queries added. */
    public int size() {
        return size;
    }

    /** Lowers the max score of rows to find for a query; never raises it. */
    public void lowerBound(int query, float bound) {
        bounds.setAtIndex(FLOAT, query, Math.min(bound, bounds.getAtIndex(FLOAT, query)));
    }

    /** Number of rows that the last scan found for a query. */
    public int found(int query) {
        return found.getAtIndex(INT, query);
    }

    /** Copies the scores of the rows that the last scan found for a query to {@code into}, from {@code at} on. */
    public void copyScores(int query, float[] into, int at) {
        MemorySegment.copy(scores, FLOAT, (long) query * ROOM * Float.BYTES, into, at, found(query));
    }

    /** Copies the numbers of these rows in the run, ascending, each plus {@code first}. */
    public void copyPlaces(int query, long first, long[] into, int at) {
        int count = found(query);
        MemorySegment.copy(rows, INT, (long) query * ROOM * Integer.BYTES, copied, 0, count);
        for (int i = 0; i < count; i++) {
            into[at + i] = first + copied[i];
        }
    }

    /** The argument check of every kernel, which reads memory by these numbers. */
    void requireFits(CodeRun run, int from, int to) {
        if (run.stride() != stride) {
            throw new IllegalArgumentException(
                    "the queries' stride must be the rows' " + run.stride() + ", got " + stride);
        }
        if (from < 0 || from % CodeRun.TILE != 0 || to < from || to > run.count() || to - from > MAX_ROWS) {
            throw new IllegalArgumentException("rows must be at most " + MAX_ROWS + " of " + run.count()
                    + ", the first a multiple of " + CodeRun.TILE + ", got " + from + " to " + to);
        }
    }
}
