package io.github.roost.index.hnsw;

import io.github.roost.index.hnsw.graph.AllowedRows;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.graph.GraphSpace;
import io.github.roost.index.hnsw.graph.GraphVisit;
import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * A part of a live table: rows in one image, and the set of live rows. A part either has a graph, and all its rows from
 * the beginning, or has no graph, and rows are appended and scanned exhaustively.
 *
 * <p>Any number of threads search while one thread at a time adds or removes. An added row is written before the volatile {@code
 * count} is raised past it, and searches read only rows below the count, so they never see a row half written. Removing a row
 * clears one bit (see {@code NodeSet}); its memory is kept until the part is merged into another.
 */
final class LiveRows {
    private final Graph rows;
    private final AllowedRows alive;
    private final boolean hasGraph;
    /** Rows added so far. Written by the adding thread. */
    private volatile int count;
    /** Whether the part takes no more rows. Written by the adding thread. */
    private boolean sealed;
    /** Assigned by {@link RowPlaces}; used only by the adding thread. */
    private int number;

    private LiveRows(Graph rows, boolean hasGraph, int count) {
        this.rows = rows;
        this.alive = AllowedRows.full(rows.image());
        this.hasGraph = hasGraph;
        this.count = count;
        this.sealed = hasGraph;
    }

    static LiveRows withGraph(Graph graph) {
        return new LiveRows(graph, true, graph.rows());
    }

    /** An empty part with room for {@code capacity} rows, in a scale chosen by the first. */
    static LiveRows empty(Metric metric, float[] first, int capacity) {
        GraphSpace space = GraphSpace.around(first, metric);
        return new LiveRows(new Graph(roomFor(capacity, first.length, space)), false, 0);
    }

    private static GraphImage roomFor(int rows, int dimension, GraphSpace space) {
        return GraphImage.allocate(new GraphImage.Shape(
                space.metric(), false, dimension, 0, 0, rows, rows, space.exponent(), space.largest(), new int[0]));
    }

    /**
     * A snapshot of a part. It shares the part's image: rows added later are behind {@code rows}.
     *
     * @param image the image of the rows, perhaps with spare capacity
     * @param rows number of rows, at least one
     * @param alive bit set of the live rows
     */
    record RowsSnapshot(GraphImage image, int rows, long[] alive) {
        /** An image of the rows without spare capacity. */
        GraphImage rowsAlone() {
            return rows == image.shape().rows() ? image : copy(image, rows, rows);
        }

        boolean isAlive(int row) {
            return (alive[row / Long.SIZE] >>> row & 1) != 0;
        }
    }

    /** A copy of the first rows of an image without a graph, with room for {@code capacity} rows. */
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

    /** A snapshot; called by the thread that adds and removes. */
    RowsSnapshot now() {
        long[] bits = new long[(count + Long.SIZE - 1) / Long.SIZE];
        for (int row = 0; row < count; row++) {
            bits[row / Long.SIZE] |= alive.rows().contains(row) ? 1L << row : 0;
        }
        return new RowsSnapshot(rows.image(), count, bits);
    }

    /**
     * Restores a part from a snapshot.
     *
     * @param capacity max rows of the part, if it has no graph
     */
    static LiveRows of(RowsSnapshot snapshot, int capacity) {
        boolean hasGraph = hasGraph(snapshot.image());
        GraphImage image = hasGraph ? snapshot.image() : copy(snapshot.image(), snapshot.rows(), capacity);
        LiveRows part = new LiveRows(new Graph(image), hasGraph, snapshot.rows());
        for (int row = 0; row < snapshot.rows(); row++) {
            if (!snapshot.isAlive(row)) {
                part.remove(row);
            }
        }
        return part;
    }

    /** Whether an image has a graph. */
    static boolean hasGraph(GraphImage image) {
        return image.shape().degree() > 0;
    }

    boolean hasGraph() {
        return hasGraph;
    }

    /** Whether searches of the part read codes. */
    boolean isCoded() {
        return rows.image().shape().coded();
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

    /** Whether one more row can be added and is in the range of magnitudes that the part's scale can represent. */
    boolean hasRoomFor(float[] vector) {
        return !sealed && count < rows.rows() && rows.space().fits(vector);
    }

    /** Makes the part refuse more rows. */
    void seal() {
        sealed = true;
    }

    boolean isSealed() {
        return sealed;
    }

    /** Adds a row and returns its number; searches that begin after this returns find it. */
    int add(long id, float[] vector) {
        int row = count;
        rows.image().setVector(row, rows.space().row(vector));
        rows.image().setId(row, id);
        count = row + 1;
        return row;
    }

    /** Removes a row; searches that begin after this returns do not find it. */
    void remove(int row) {
        alive.remove(rows.image(), row);
    }

    /** Rows added, removed ones included. */
    int count() {
        return count;
    }

    /** Live rows. */
    int size() {
        return alive.rows().size() - (rows.rows() - count);
    }

    /** The memory of the rows. */
    MemorySegment memory() {
        return rows.image().memory();
    }

    /** Off-heap bytes of the rows and their tombstones. */
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
        return rows.vector(row);
    }

    /** Finds the k nearest live rows by an exhaustive scan. */
    SearchResult exact(float[] query, int k, GraphVisit visit) {
        int nodes = hasGraph ? rows.image().shape().nodes() : count;
        return rows.searcher().scan(query, k, alive, AllowedRows.ALL, 0, nodes, visit);
    }

    /**
     * Refuses a row that no table can have written. In a damaged file a row may be zero under cosine, or infinite once scaled back;
     * built into a graph, it would scale all other rows to zero.
     *
     * @throws IllegalArgumentException if the row is invalid; the message names its id
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
     * Appends the list of the k nearest live rows that a filter allows.
     *
     * @param from first row to scan in a part without a graph; a part with a graph is always searched whole
     * @return the number of rows when the search began: rows from there on are still to be searched
     */
    int search(float[] query, int k, int ef, IdFilter filter, int from, GraphVisit visit, List<SearchResult> found) {
        int end = count;
        if (hasGraph) {
            found.add(rows.searcher().search(query, k, ef, alive, filter, visit));
        } else {
            int last = visit.lastOf(from, end);
            AllowedRows wanted = rows.searcher().allowedAmong(filter, alive, from, last, visit);
            found.add(rows.searcher().scan(query, k, alive, wanted, from, last, visit));
        }
        // If a row was seen as removed here, later reads see the successor that was added before the removal.
        VarHandle.acquireFence();
        return end;
    }
}
