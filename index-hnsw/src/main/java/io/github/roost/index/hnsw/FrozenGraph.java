package io.github.roost.index.hnsw;

import io.github.roost.core.Neighbors;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.GraphWalk;
import io.github.roost.index.hnsw.walk.GraphWalks;
import io.github.roost.index.hnsw.walk.NodeSet;
import io.github.roost.index.hnsw.walk.WalkScratch;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A graph in off-heap memory and how it is searched. Immutable; thread-safe. */
final class FrozenGraph {
    /** Up to this many nodes for each unit of ef a graph is searched exactly. */
    private static final int EXACT_PER_EF = 4;
    /** Nodes that a walk expands on its way, besides those it is after. */
    private static final int ON_THE_WAY = 16;
    /** Of the neighbours of a node that a walk expands, the share that it has not come to before, at most. */
    private static final double NEW_NEIGHBORS = .75;
    /** How many times as wide a walk is done again that went far from the query, where few links lead. */
    private static final int WIDER = 16;

    /** Codes order nodes nearly as vectors do: the k nearest are among a quarter more by code, and these. */
    private static final int RERANKED_MORE = 8;
    /** Vectors of few components share their codes with many others, and cost little to compare: so many components. */
    private static final int RERANKED_COMPONENTS = 4_096;

    /** How many more than k a walk by codes looks for. */
    private static final int WIDER_BY_CODE = 4;

    private final GraphImage image;
    private final GraphSpace space;
    private final GraphWalk walk = GraphWalks.preferred();
    private final CompiledFilters filters;
    /** Made when first asked for; of two threads that make it at once one throws its own away. */
    private volatile @Nullable RowsById byId;

    FrozenGraph(GraphImage image) {
        this.image = image;
        GraphImage.Shape shape = image.shape();
        this.filters = new CompiledFilters(image);
        this.space = new GraphSpace(shape.metric(), shape.exponent(), shape.largest());
    }

    /** Builds a graph on the orchestrator's workers; returns once it is frozen. Arguments have been checked. */
    static FrozenGraph build(BuildWork work, GraphOptions options, long[] ids, float[][] vectors) {
        return new FrozenGraph(new GraphBuild(work, options).run(ids, vectors));
    }

    GraphImage image() {
        return image;
    }

    int rows() {
        return image.shape().rows();
    }

    /** The rows that a filter allows. */
    AllowedRows allowed(IdFilter filter, GraphVisit visit) {
        return filters.rowsOf(filter, visit::requireWanted);
    }

    /** The rows that a filter allows of an image that is still being filled, of which {@code count} rows are there. */
    AllowedRows allowedAmong(IdFilter filter, int count, GraphVisit visit) {
        return filters.rowsAmong(filter, count, visit::requireWanted);
    }

    /** The row of an external id, or -1; the first call sorts the ids. */
    int row(long id) {
        RowsById known = byId;
        if (known == null) {
            known = new RowsById(image);
            byId = known;
        }
        return known.row(id);
    }

    /** A copy of the vector of a row, in the caller's scale. */
    float[] vectorOfRow(int row) {
        float[] vector = new float[image.shape().dimension()];
        image.vector(image.nodeOf(row), vector);
        return space.original(vector);
    }

    GraphSpace space() {
        return space;
    }

    /**
     * Searches for the k nearest rows that are in both of two sets; what was touched is reported to the context. The
     * query has been checked.
     *
     * @throws DeadlineExceededException if the context says meanwhile that the result is no longer wanted
     */
    Neighbors search(float[] query, int k, int ef, AllowedRows alive, AllowedRows wanted, GraphVisit visit) {
        WalkScratch scratch = WalkScratch.take();
        try {
            return search(query, k, ef, alive, wanted, visit, scratch);
        } finally {
            scratch.giveBack();
        }
    }

    private Neighbors search(
            float[] query,
            int k,
            int ef,
            AllowedRows alive,
            AllowedRows wanted,
            GraphVisit visit,
            WalkScratch scratch) {
        Runnable betweenPieces = visit::requireWanted;
        int width = width(k, ef);
        scratch.begin(image, width);
        GraphSpace.QueryScale scale = space.write(query, scratch);
        int nodes = image.shape().nodes();
        NodeSet allowed = scratch.both(image, alive.nodes(), wanted.nodes(), betweenPieces);
        int limit;
        if (scanIsShorter(Math.min(nodes, allowed.size()), ef)) {
            limit = ef;
            walk.scan(image, scratch, limit, allowed, 0, nodes, betweenPieces);
            touchedVectors(scratch, visit);
        } else {
            limit = reranked(k, width);
            walk.walk(image, scratch, width, limit, allowed, betweenPieces);
            touchedRecords(scratch, visit);
            if (wentFar(scratch.computed(), allowed.size(), width)) {
                return search(query, k, Math.min(WIDER * ef, nodes), alive, wanted, visit, scratch);
            }
        }
        Neighbors found = nearest(scratch, scale, k, alive.rows(), wanted.rows());
        return ef < nodes && isCrowdedOut(found, k, scratch, limit)
                ? search(query, k, wider(ef, nodes), alive, wanted, visit, scratch)
                : found;
    }

    /**
     * Whether nodes that give nothing took the places of others. Of a node that stands for several rows one may be alive and
     * another one wanted; and rows die while they are searched.
     *
     * @param limit how many nodes there was room for
     */
    private static boolean isCrowdedOut(Neighbors found, int k, WalkScratch scratch, int limit) {
        return found.size() < k && scratch.size() >= limit;
    }

    private static int wider(int width, int most) {
        return (int) Math.min((long) WIDER * width, most);
    }

    /**
     * Whether a walk has come to more nodes than it does where the allowed ones lie among the others: then they lie away
     * from the query. A walk that finds ef of them there comes in from one side, and misses more than others do. Done again
     * wider, until it goes less far than that or looking at all allowed nodes is no more work.
     */
    private boolean wentFar(long computed, int allowed, int ef) {
        int nodes = image.shape().nodes();
        double expanded = ef * (double) nodes / allowed + ON_THE_WAY;
        return allowed < nodes
                && computed > expanded * NEW_NEIGHBORS * image.shape().degree();
    }

    /** The nodes that {@link #search} computes distances to, in that order, less those on the way to layer 0. */
    int[] visits(float[] query, int k, int ef) {
        int nodes = image.shape().nodes();
        if (scanIsShorter(nodes, ef)) {
            return IntStream.range(0, nodes).toArray();
        }
        int width = width(k, ef);
        WalkScratch scratch = WalkScratch.take();
        try {
            space.write(query, scratch.begin(image, width));
            return GraphWalks.visits(image, scratch, width);
        } finally {
            scratch.giveBack();
        }
    }

    /** As {@link #search}, by looking at every node from {@code from} to {@code to} exclusive. */
    Neighbors scan(float[] query, int k, AllowedRows alive, AllowedRows wanted, int from, int to, GraphVisit visit) {
        WalkScratch scratch = WalkScratch.take();
        try {
            return scan(query, k, k, alive, wanted, from, to, visit, scratch);
        } finally {
            scratch.giveBack();
        }
    }

    private Neighbors scan(
            float[] query,
            int k,
            int width,
            AllowedRows alive,
            AllowedRows wanted,
            int from,
            int to,
            GraphVisit visit,
            WalkScratch scratch) {
        Runnable betweenPieces = visit::requireWanted;
        scratch.begin(image, width);
        GraphSpace.QueryScale scale = space.write(query, scratch);
        NodeSet allowed = scratch.both(image, alive.nodes(), wanted.nodes(), betweenPieces);
        walk.scan(image, scratch, width, allowed, from, to, betweenPieces);
        touchedVectors(scratch, visit);
        Neighbors found = nearest(scratch, scale, k, alive.rows(), wanted.rows());
        return width < to - from && isCrowdedOut(found, k, scratch, width)
                ? scan(query, k, wider(width, to - from), alive, wanted, from, to, visit, scratch)
                : found;
    }

    /** How many of the nodes that a walk finds by their codes are compared again by their vectors. */
    private int reranked(int k, int width) {
        // Of a node that stands for several rows none may be wanted; then the next one takes its place.
        if (!image.shape().coded() || image.hasGroups()) {
            return width;
        }
        int most = Math.max(
                k + k / 4 + RERANKED_MORE, RERANKED_COMPONENTS / image.shape().dimension());
        return Math.min(width, most);
    }

    /** A walk by codes loses neighbours at the end of its list, so it is a little wider than what it gives. */
    private int width(int k, int ef) {
        return image.shape().coded() ? Math.max(ef, k + WIDER_BY_CODE) : ef;
    }

    /** The paper's estimate: N nodes, each a vector, or its codes, and a list of M neighbours. */
    private void touchedRecords(WalkScratch scratch, GraphVisit visit) {
        GraphImage.Shape shape = image.shape();
        long vector = (long) shape.dimension() * Float.BYTES;
        long reranked = shape.coded() ? scratch.size() : 0;
        long nodes = scratch.computed() - reranked;
        long record = (shape.coded() ? shape.dimension() : vector) + (long) shape.upperDegree() * Integer.BYTES;
        visit.compared(nodes, 0, nodes * record + reranked * vector);
    }

    private void touchedVectors(WalkScratch scratch, GraphVisit visit) {
        visit.compared(scratch.computed(), 0, scratch.computed() * image.shape().dimension() * Float.BYTES);
    }

    /**
     * Whether looking at all allowed nodes, which is exact, is no more work than a walk. A walk that finds ef nodes of
     * which one in so many is allowed expands that many times ef nodes, and looks at several neighbours of each.
     */
    private boolean scanIsShorter(int allowed, int ef) {
        double share = (double) allowed / image.shape().nodes();
        return allowed * share <= EXACT_PER_EF * (double) ef;
    }

    /** The k nearest rows of the nodes found that are in both sets, nearest first, ties by id. */
    private Neighbors nearest(WalkScratch scratch, GraphSpace.QueryScale scale, int k, NodeSet alive, NodeSet wanted) {
        int nodes = 0;
        int rows = 0;
        // All nodes of one distance are taken, so that the smallest ids of that distance are among them.
        while (nodes < scratch.size() && (rows < k || scratch.distance(nodes) == scratch.distance(nodes - 1))) {
            rows += count(scratch.node(nodes), alive, wanted);
            nodes++;
        }
        long[] ids = new long[rows];
        float[] distances = new float[rows];
        int size = 0;
        for (int i = 0; i < nodes; i++) {
            float distance = space.toCaller(scale, scratch.distance(i));
            int end = image.firstRow(scratch.node(i) + 1);
            for (int row = image.firstRow(scratch.node(i)); row < end; row++) {
                // Rows only ever die, so there is room for all that are alive now.
                if (alive.contains(row) && wanted.contains(row)) {
                    ids[size] = image.id(row);
                    distances[size++] = distance;
                }
            }
        }
        if (size < rows && nodes < scratch.size()) {
            // One has died since it was counted: the next takes its place.
            return nearest(scratch, scale, k, alive, wanted);
        }
        sortTies(ids, distances, size);
        int kept = Math.min(size, k);
        return kept == rows
                ? new Neighbors(ids, distances)
                : new Neighbors(Arrays.copyOf(ids, kept), Arrays.copyOf(distances, kept));
    }

    private int count(int node, NodeSet alive, NodeSet wanted) {
        int end = image.firstRow(node + 1);
        int count = 0;
        for (int row = image.firstRow(node); row < end; row++) {
            count += alive.contains(row) && wanted.contains(row) ? 1 : 0;
        }
        return count;
    }

    private static void sortTies(long[] ids, float[] distances, int size) {
        int from = 0;
        for (int i = 1; i <= size; i++) {
            if (i == size || distances[i] != distances[from]) {
                if (i - from > 1) {
                    Arrays.sort(ids, from, i);
                }
                from = i;
            }
        }
    }
}
