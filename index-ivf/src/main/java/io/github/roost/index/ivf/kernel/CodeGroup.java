package io.github.roost.index.ivf.kernel;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.roost.vector.Metric;
import io.github.roost.vector.memory.ScratchMemory;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Queries that scan codes together and the rows that a scan found for each, in off-heap memory that is reused.
 * Fill with {@link #begin} and {@link #add}, pass to {@link ScanKernel#weigh}, and set the bounds; after each scan read the found rows
 * and lower the bounds. Belongs to one thread.
 *
 * <p>A row's score for a query is nearly the distance to the row that its codes stand for, so that the scores of rows with different
 * centers can be compared.
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
            ADDRESS.withName("bases"),
            ADDRESS.withName("lengths"),
            ADDRESS.withName("errors"),
            ADDRESS.withName("low_weights"),
            ADDRESS.withName("low_starts"),
            ADDRESS.withName("fine"),
            ADDRESS.withName("queries"),
            ADDRESS.withName("center"),
            JAVA_INT.withName("first"),
            JAVA_INT.withName("end"),
            JAVA_INT.withName("count"),
            JAVA_INT.withName("stride"),
            JAVA_INT.withName("query_count"),
            JAVA_INT.withName("room"),
            JAVA_INT.withName("components"),
            JAVA_INT.withName("inner_product"),
            ADDRESS.withName("codes"),
            ADDRESS.withName("terms"),
            ADDRESS.withName("scales"));

    private static final VarHandle WEIGHTS = field("weights");
    private static final VarHandle STARTS = field("starts");
    private static final VarHandle SLOPES = field("slopes");
    private static final VarHandle BOUNDS = field("bounds");
    private static final VarHandle FOUND = field("found");
    private static final VarHandle ROWS = field("rows");
    private static final VarHandle SCORES = field("scores");
    private static final VarHandle BASES = field("bases");
    private static final VarHandle LENGTHS = field("lengths");
    private static final VarHandle ERRORS = field("errors");
    private static final VarHandle LOW_WEIGHTS = field("low_weights");
    private static final VarHandle LOW_STARTS = field("low_starts");
    private static final VarHandle FINE = field("fine");
    private static final VarHandle QUERIES = field("queries");
    private static final VarHandle CENTER = field("center");
    private static final VarHandle FIRST = field("first");
    private static final VarHandle END = field("end");
    private static final VarHandle COUNT = field("count");
    private static final VarHandle STRIDE = field("stride");
    private static final VarHandle QUERY_COUNT = field("query_count");
    private static final VarHandle FIELD_ROOM = field("room");

    private static final VarHandle COMPONENTS = field("components");
    private static final VarHandle INNER_PRODUCT = field("inner_product");

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    MemorySegment weights = MemorySegment.NULL;
    /** Weights of what weights have lost, for queries that are marked as {@link #fine}. */
    MemorySegment lowWeights = MemorySegment.NULL;

    MemorySegment queries = MemorySegment.NULL;
    MemorySegment center = MemorySegment.NULL;
    /** Start values of the sums: they subtract 128 from every code at once, for kernels that multiply unsigned bytes. */
    final MemorySegment starts;

    final MemorySegment slopes;
    final MemorySegment bases;
    final MemorySegment lengths;
    final MemorySegment errors;
    final MemorySegment lowStarts;
    final MemorySegment fine;
    final MemorySegment bounds;
    final MemorySegment found;
    final MemorySegment rows;
    final MemorySegment scores;
    /** The arguments of a scan in C. */
    private final MemorySegment arguments;

    int stride;
    int components;
    boolean innerProduct;

    private final int[] copied = new int[ROOM];
    private int size;

    /** An empty group; its memory lives as long as the group is reachable. */
    public CodeGroup() {
        long small = MAX_QUERIES * (long) Integer.BYTES;
        long large = ROOM * small;
        MemorySegment all = ScratchMemory.allocate(9 * small + 2 * large + LAYOUT.byteSize());
        this.starts = all.asSlice(0, small);
        this.slopes = all.asSlice(small, small);
        this.bounds = all.asSlice(2 * small, small);
        this.found = all.asSlice(3 * small, small);
        this.bases = all.asSlice(4 * small, small);
        this.lengths = all.asSlice(5 * small, small);
        this.errors = all.asSlice(6 * small, small);
        this.lowStarts = all.asSlice(7 * small, small);
        this.fine = all.asSlice(8 * small, small);
        this.rows = all.asSlice(9 * small, large);
        this.scores = all.asSlice(9 * small + large, large);
        this.arguments = all.asSlice(9 * small + 2 * large, LAYOUT);
        STARTS.set(arguments, 0L, starts);
        SLOPES.set(arguments, 0L, slopes);
        BOUNDS.set(arguments, 0L, bounds);
        FOUND.set(arguments, 0L, found);
        ROWS.set(arguments, 0L, rows);
        SCORES.set(arguments, 0L, scores);
        BASES.set(arguments, 0L, bases);
        LENGTHS.set(arguments, 0L, lengths);
        ERRORS.set(arguments, 0L, errors);
        LOW_STARTS.set(arguments, 0L, lowStarts);
        FINE.set(arguments, 0L, fine);
        FIELD_ROOM.set(arguments, 0L, ROOM);
    }

    private static VarHandle field(String name) {
        return LAYOUT.varHandle(groupElement(name));
    }

    /**
     * Empties the group.
     *
     * @param rowCenter the center of the codes to scan, of the dimension of rows and queries
     */
    public void begin(Metric metric, float[] rowCenter) {
        size = 0;
        stride = CodeRun.strideOf(rowCenter.length);
        components = RowRun.strideOf(rowCenter.length);
        // Unit vectors are ordered by their squared distances, which lose less: their differences from a center are
        // small.
        innerProduct = metric == Metric.INNER_PRODUCT;
        weights = ScratchMemory.roomFor(weights, (long) MAX_QUERIES * stride);
        lowWeights = ScratchMemory.roomFor(lowWeights, (long) MAX_QUERIES * stride);
        queries = ScratchMemory.roomFor(queries, (long) MAX_QUERIES * components * Float.BYTES);
        center = ScratchMemory.roomFor(center, (long) components * Float.BYTES);
        copy(rowCenter, center, 0);
        WEIGHTS.set(arguments, 0L, weights);
        LOW_WEIGHTS.set(arguments, 0L, lowWeights);
        QUERIES.set(arguments, 0L, queries);
        CENTER.set(arguments, 0L, center);
        STRIDE.set(arguments, 0L, stride);
        COMPONENTS.set(arguments, 0L, components);
        INNER_PRODUCT.set(arguments, 0L, innerProduct ? 1 : 0);
    }

    private void copy(float[] row, MemorySegment into, long at) {
        MemorySegment.copy(row, 0, into, FLOAT, at * Float.BYTES, row.length);
        for (long i = at + row.length; i < at + components; i++) {
            into.setAtIndex(FLOAT, i, 0);
        }
    }

    /**
     * Adds a query.
     *
     * @param query of the dimension of the center
     */
    public void add(float[] query) {
        if (size == MAX_QUERIES || CodeRun.strideOf(query.length) != stride) {
            throw new IllegalArgumentException("a group of " + MAX_QUERIES + " queries of " + stride
                    + " weights takes no query " + size + " of " + query.length);
        }
        copy(query, queries, (long) size * components);
        size++;
    }

    /** The squared length of what a query's weights stand for, in float: its distance from the center, or its norm under inner product. */
    public float squaredLength(int query) {
        return lengths.getAtIndex(FLOAT, query);
    }

    /** The squared rounding error of a query's weights, in float, as a distance. */
    public float squaredError(int query) {
        return errors.getAtIndex(FLOAT, query);
    }

    /** Subtracts an amount from all scores of a query; called after the queries are weighed. */
    public void lowerScores(int query, double by) {
        bases.setAtIndex(FLOAT, query, (float) (bases.getAtIndex(FLOAT, query) - by));
    }

    /** Sets the max score of rows to find for a query. */
    public void bound(int query, float bound) {
        bounds.setAtIndex(FLOAT, query, bound);
    }

    /** Writes the arguments of a scan; this must stay reachable until the call returns. */
    MemorySegment arguments(CodeRun run, int from, int to) {
        FIRST.set(arguments, 0L, from);
        END.set(arguments, 0L, to);
        COUNT.set(arguments, 0L, run.count());
        return arguments();
    }

    /** Writes the arguments that do not depend on rows. */
    MemorySegment arguments() {
        QUERY_COUNT.set(arguments, 0L, size);
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
