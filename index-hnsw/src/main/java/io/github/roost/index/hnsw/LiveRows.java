package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Vectors;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.index.hnsw.walk.GraphImage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * A part of a live table: rows in one image, and which of them are alive. Either all rows are there from the beginning and
 * have a graph, or rows are added one after the other and searches look at each.
 *
 * <p>Any number of threads search while one at a time adds or removes. An added row is written before {@code count} is
 * raised over it (volatile), and searches look only at rows below the count they have read, so they see rows whole. A row
 * is removed by one bit (see {@code NodeSet}); what it held stays until the part is merged into another.
 */
final class LiveRows {
    private final FrozenGraph rows;
    private final AllowedRows alive;
    private final boolean hasGraph;
    /** Rows added so far. Written by the thread that adds. */
    private volatile int count;
    /** Whether no more rows are added. Written by the thread that adds. */
    private boolean sealed;
    /** Given by {@link RowPlaces}; of the thread that adds. */
    private int number;

    private LiveRows(FrozenGraph rows, boolean hasGraph, int count) {
        this.rows = rows;
        this.alive = AllowedRows.full(rows.image());
        this.hasGraph = hasGraph;
        this.count = count;
        this.sealed = hasGraph;
    }

    static LiveRows frozen(FrozenGraph graph) {
        return new LiveRows(graph, true, graph.rows());
    }

    /** Room for rows to be added, in the scale of the first. */
    static LiveRows empty(Metric metric, float[] first, int capacity) {
        GraphSpace space = GraphSpace.around(first, metric);
        return new LiveRows(new FrozenGraph(roomFor(capacity, first.length, space)), false, 0);
    }

    private static GraphImage roomFor(int rows, int dimension, GraphSpace space) {
        return GraphImage.allocate(new GraphImage.Shape(
                space.metric(), false, dimension, 0, 0, rows, rows, space.exponent(), space.largest(), new int[0]));
    }

    /**
     * The rows that were there at a moment. The image belongs to the part: what is added to it later lies behind.
     *
     * @param image what holds the rows, perhaps with room for more
     * @param rows how many were there, at least one
     * @param alive one bit per row, in words of 64
     */
    record Moment(GraphImage image, int rows, long[] alive) {
        /** An image of the rows without the room for more. */
        GraphImage rowsAlone() {
            return rows == image.shape().rows() ? image : copy(image, rows, rows);
        }

        boolean isAlive(int row) {
            return (alive[row / Long.SIZE] >>> row & 1) != 0;
        }
    }

    /** A copy of the first rows of an image without a graph, with room for more. */
    private static GraphImage copy(GraphImage from, int rows, int capacity) {
        GraphImage.Shape shape = from.shape();
        GraphImage image =
                roomFor(capacity, shape.dimension(), new GraphSpace(shape.metric(), shape.exponent(), shape.largest()));
        float[] vector = new float[shape.dimension()];
        for (int row = 0; row < rows; row++) {
            from.vector(row, vector);
            image.setVector(row, vector);
            image.setId(row, from.id(row));
        }
        return image;
    }

    /** The rows as they are; called by the thread that adds and removes. */
    Moment now() {
        long[] bits = new long[(count + Long.SIZE - 1) / Long.SIZE];
        for (int row = 0; row < count; row++) {
            bits[row / Long.SIZE] |= alive.rows().contains(row) ? 1L << row : 0;
        }
        return new Moment(rows.image(), count, bits);
    }

    /**
     * A part as it was at a moment.
     *
     * @param capacity room for rows in all, where they have no graph
     */
    static LiveRows of(Moment moment, int capacity) {
        boolean hasGraph = hasGraph(moment.image());
        GraphImage image = hasGraph ? moment.image() : copy(moment.image(), moment.rows(), capacity);
        LiveRows part = new LiveRows(new FrozenGraph(image), hasGraph, moment.rows());
        for (int row = 0; row < moment.rows(); row++) {
            if (!moment.isAlive(row)) {
                part.remove(row);
            }
        }
        return part;
    }

    /** Whether an image is of rows with a graph. */
    static boolean hasGraph(GraphImage image) {
        return image.shape().degree() > 0;
    }

    boolean hasGraph() {
        return hasGraph;
    }

    int number() {
        return number;
    }

    void number(int given) {
        number = given;
    }

    boolean isAlive(int row) {
        return alive.rows().contains(row);
    }

    /** Whether one more row can be added, and be told apart from the others. */
    boolean hasRoomFor(float[] vector) {
        return !sealed && count < rows.rows() && rows.space().fits(vector);
    }

    /** Ends the adding of rows. */
    void seal() {
        sealed = true;
    }

    boolean isSealed() {
        return sealed;
    }

    /** Adds a row, which searches that begin after this returns find; returns its number. */
    int add(long id, float[] vector) {
        int row = count;
        rows.image().setVector(row, rows.space().row(vector));
        rows.image().setId(row, id);
        count = row + 1;
        return row;
    }

    /** Takes a row out; searches that begin after this returns do not find it. */
    void remove(int row) {
        alive.remove(rows.image(), row);
    }

    /** Rows added, alive or not. */
    int count() {
        return count;
    }

    /** Rows alive. */
    int size() {
        return alive.rows().size() - (rows.rows() - count);
    }

    /** What the rows lie in. */
    MemorySegment memory() {
        return rows.image().memory();
    }

    /** What the rows and their marks take off-heap. */
    long bytes() {
        return rows.image().bytes() + alive.bytes();
    }

    MergeChoice.Part asPart() {
        return new MergeChoice.Part(hasGraph, count, size());
    }

    long id(int row) {
        return rows.image().id(row);
    }

    /** A copy of a row's vector, in the caller's scale. */
    float[] vector(int row) {
        return rows.vectorOfRow(row);
    }

    /** Finds the k nearest rows alive among all, by looking at each. */
    Neighbors exact(float[] query, int k, GraphVisit visit) {
        int nodes = hasGraph ? rows.image().shape().nodes() : count;
        return rows.scan(query, k, alive, AllowedRows.ALL, 0, nodes, visit);
    }

    /**
     * Refuses a row that no table has written: in a damaged file one may be zero under cosine, or infinite once scaled back, and
     * all others that it is built with would be scaled to nothing.
     *
     * @throws IllegalArgumentException names the row by its id
     */
    void requireSound(int row) {
        float[] original = vector(row);
        Vectors.require(
                "the row of id " + id(row),
                original,
                original.length,
                rows.image().shape().metric());
    }

    /**
     * Appends a list of the k nearest rows alive that a filter allows.
     *
     * @param from of rows that have no graph the first to look at; others are searched whole
     * @return how many rows there were then: those behind are still to be searched
     */
    int search(float[] query, int k, int ef, IdFilter filter, int from, GraphVisit visit, List<Neighbors> found) {
        int end = count;
        if (hasGraph) {
            found.add(rows.search(query, k, ef, alive, rows.allowed(filter, visit), visit));
        } else {
            AllowedRows wanted = rows.allowedAmong(filter, end, visit);
            int last = visit.lastOf(from, end);
            found.add(last == from ? Neighbors.EMPTY : rows.scan(query, k, alive, wanted, from, last, visit));
        }
        // Who was seen dead here has a successor that what is read afterwards shows.
        VarHandle.acquireFence();
        return end;
    }
}
