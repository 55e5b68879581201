package io.github.roost.index.hnsw.search;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.roost.vector.Metric;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * A graph under construction, into which several threads insert nodes concurrently, in C (Malkov and Yashunin, IEEE TPAMI 42(4),
 * 2020, algorithms 1 and 4). It is an image whose neighbor lists fill up. Distances are squared L2. All vectors are written
 * first; then nodes are inserted in the order of their numbers. Node 0, the entry point, must be inserted before all others. insert.h
 * explains how threads share neighbor lists.
 *
 * <p>A full list is pruned by the heuristic: neighbors are considered nearest first, and a neighbor that is nearer to a kept
 * one than to the list's node is dropped. Remaining places are filled with dropped neighbors by a relaxed rule (as in Vamana;
 * Subramanya et al., DiskANN, NeurIPS 2019). The list remembers the neighbors that were kept by the strict rule, and all distances,
 * so the next pruning compares these neighbors only with new ones.
 */
public final class GraphInsertion implements AutoCloseable {
    /** {@code struct build} in insert.h. */
    static final StructLayout LAYOUT = MemoryLayout.structLayout(
            ADDRESS.withName("image"),
            ADDRESS.withName("lengths"),
            ADDRESS.withName("chosen"),
            ADDRESS.withName("locks"),
            JAVA_INT.withName("links"),
            JAVA_FLOAT.withName("factor"));

    private static final int[] NO_NEIGHBORS = {};
    /** Bytes of vectors that an insertion reads between two yields: a few microseconds. */
    private static final long BYTES_PER_PIECE = 32 << 10;

    private static final int MAX_PER_PIECE = 64;

    private final NativeSearch insertion;
    private final BuildMemory memory = new BuildMemory();
    private final int budget;
    final GraphImage image;
    final int width;
    /** The graph as C has it. */
    final MemorySegment build;
    /** The squared distance of each link. */
    private final MemorySegment lengths;

    /**
     * Allocates an empty graph.
     *
     * @param dimension components per vector, from 1 to one more than the max of tables
     * @param m max neighbors of a node in an upper layer, and half the max in layer 0; also the max that a new node links to
     * @param width width of the searches for neighbors
     * @param alpha factor of the relaxed rule: if there is room, a neighbor is dropped only if alpha times its squared distance to a
     *     kept one is less than its squared distance to the list's node; at least 1
     * @param nodes number of nodes
     * @param levelCounts number of nodes of each upper layer, layer 1 first
     * @throws IllegalStateException if there is no native library, see {@link #isAvailable}
     */
    public GraphInsertion(int dimension, int m, int width, float alpha, int nodes, int[] levelCounts) {
        this(GraphSearchers.preferred(), dimension, m, width, alpha, nodes, levelCounts);
    }

    /** With the instruction set of the given search. */
    GraphInsertion(GraphSearcher searcher, int dimension, int m, int width, float alpha, int nodes, int[] levelCounts) {
        if (!(searcher instanceof NativeSearch nativeSearch)) {
            throw new IllegalStateException(
                    "nodes are inserted by a native library, got the search in " + searcher.name());
        }
        this.insertion = nativeSearch;
        this.width = width;
        this.budget = Math.clamp(BYTES_PER_PIECE / ((long) dimension * Float.BYTES), GraphSearcher.TILE, MAX_PER_PIECE)
                / GraphSearcher.TILE
                * GraphSearcher.TILE;
        GraphImage.Shape shape = new GraphImage.Shape(
                Metric.SQUARED_L2, false, dimension, room(2 * m), room(m), nodes, nodes, 0, 0, levelCounts);
        boolean done = false;
        try {
            this.image = GraphImage.allocate(shape, memory.arena());
            long upper = shape.upperLists();
            this.lengths = memory.allocate(((long) nodes * room(2 * m) + upper * room(m)) * Float.BYTES);
            this.build = memory.arena().allocate(LAYOUT);
            set("image", image.head());
            set("lengths", lengths);
            set("chosen", memory.allocate((nodes + upper) * Short.BYTES));
            set("locks", memory.allocate(nodes));
            LAYOUT.varHandle(groupElement("links")).set(build, 0L, 2 * m);
            LAYOUT.varHandle(groupElement("factor")).set(build, 0L, alpha);
            done = true;
        } finally {
            if (!done) {
                memory.close();
            }
        }
    }

    private void set(String field, MemorySegment address) {
        LAYOUT.varHandle(groupElement(field)).set(build, 0L, address);
    }

    /** Lists have a quarter more room than they keep, because pruning at each new neighbor would cost more than reading longer lists. */
    private static int room(int neighbors) {
        return neighbors + Math.max(1, neighbors / 4);
    }

    /** Whether the native library is available and not disabled by {@link GraphSearchers#PROPERTY}. */
    public static boolean isAvailable() {
        return GraphSearchers.preferred() instanceof NativeSearch;
    }

    /** Writes a node's vector and empties its neighbor lists. Threads may write different nodes concurrently. */
    public void setVector(int node, float[] values) {
        image.setVector(node, values);
        image.setNeighbors(0, node, NO_NEIGHBORS, 0);
        for (int level = 1; level <= image.levels() && node < image.nodes(level); level++) {
            image.setNeighbors(level, node, NO_NEIGHBORS, 0);
        }
    }

    /**
     * Copies the first components of a node's vector.
     *
     * @param count number of components
     */
    public void vector(int node, float[] into, int count) {
        MemorySegment.copy(image.memory(), GraphImage.FLOAT_ANYWHERE, image.vectorAt(node), into, 0, count);
    }

    /**
     * Inserts a node; takes a few hundred microseconds. All nodes' vectors must be set. Called once per node, by several threads
     * concurrently.
     *
     * @param betweenPieces runs every few microseconds; if it throws, the graph is unusable
     */
    public void insert(int node, Runnable betweenPieces) {
        InsertScratch scratch = InsertScratch.take();
        boolean done = false;
        try {
            scratch.search.begin(image, width);
            while (!insertion.insertOn(this, scratch, node, budget)) {
                betweenPieces.run();
            }
            done = true;
        } finally {
            if (!done) {
                scratch.search.abandon();
            }
            scratch.giveBack();
        }
    }

    /** Prunes a node's lists to their final max length, after all nodes are inserted. Threads may trim different nodes concurrently. */
    public void trim(int node) {
        insertion.trim(this, node);
    }

    /** Layers above layer 0. */
    public int levels() {
        return image.levels();
    }

    /** Number of nodes of a layer, which have the lowest numbers. */
    public int nodes(int level) {
        return image.nodes(level);
    }

    /**
     * Copies the neighbors of a node in a layer, nearest first, after all nodes are inserted and trimmed.
     *
     * @param into an array with room for all of them
     * @return the number of neighbors
     */
    public int neighbors(int level, int node, int[] into) {
        long[] entries = new long[image.degree(level)];
        int count = 0;
        for (int neighbor = image.neighbor(level, node, 0); neighbor >= 0; ) {
            // Neighbors appended since the last pruning are at the end, unsorted.
            long entry = SearchScratch.entry(length(level, node, count), neighbor);
            int at = count;
            for (; at > 0 && entries[at - 1] > entry; at--) {
                entries[at] = entries[at - 1];
            }
            entries[at] = entry;
            count++;
            neighbor = count < entries.length ? image.neighbor(level, node, count) : -1;
        }
        for (int i = 0; i < count; i++) {
            into[i] = (int) entries[i];
        }
        return count;
    }

    /** The stored squared distance of a link. */
    float length(int level, int node, int i) {
        return lengths.getAtIndex(JAVA_FLOAT, firstLength(level, node) + i);
    }

    private long firstLength(int level, int node) {
        long list = level == 0 ? 0 : image.nodes(0);
        long first = list * image.degree(0);
        for (int below = 1; below < level; below++) {
            first += (long) image.nodes(below) * image.degree(below);
        }
        return first + (long) node * image.degree(level);
    }

    /** Frees the memory. */
    @Override
    public void close() {
        memory.close();
    }
}
