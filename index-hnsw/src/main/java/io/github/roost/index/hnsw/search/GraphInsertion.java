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
 * 2020, algorithms 1 and 4). It is an image whose neighbor lists fill up. Distances are squared L2, of vectors or of their codes. All vectors are written
 * first; then nodes are inserted, node 0, the entry point, before all others. insert.h
 * explains how threads share neighbor lists.
 *
 * <p>A full list is pruned by the heuristic: neighbors are considered nearest first, and a neighbor that is nearer to a kept
 * one than to the list's node is dropped. Remaining places are filled with dropped neighbors, those first that are nearer to a chosen
 * one by the smallest factor: where some rows are near very many others, the heuristic alone leaves lists nearly empty. The list remembers the neighbors that were kept by the strict rule, and all distances,
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
            JAVA_FLOAT.withName("max_cover"));

    private static final int[] NO_NEIGHBORS = {};
    /** Bytes of vectors that an insertion reads between two yields: a few microseconds. */
    private static final long BYTES_PER_PIECE = 32 << 10;

    private static final int MAX_PER_PIECE = 64;

    private final NativeSearch insertion;
    private final BuildMemory memory = new BuildMemory();
    private final int budget;
    final GraphImage image;
    final int width;
    /** Max neighbors of a node in layer 0 after it is trimmed. */
    final int links;
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
     * @param maxCover if there is room, a neighbor is dropped only if its squared distance to the list's node is more than this many times
     *     that to a chosen one; at least 1
     * @param nodes number of nodes
     * @param levelCounts number of nodes of each upper layer, layer 1 first
     * @param coded whether nodes are compared by codes, see {@link #encode}
     * @throws IllegalStateException if there is no native library, see {@link #isAvailable}
     */
    public GraphInsertion(
            int dimension, int m, int width, float maxCover, int nodes, int[] levelCounts, boolean coded) {
        this(GraphSearchers.preferred(), dimension, m, width, maxCover, nodes, levelCounts, coded);
    }

    /** With the instruction set of the given search. */
    GraphInsertion(
            GraphSearcher searcher,
            int dimension,
            int m,
            int width,
            float maxCover,
            int nodes,
            int[] levelCounts,
            boolean coded) {
        if (!(searcher instanceof NativeSearch nativeSearch)) {
            throw new IllegalStateException(
                    "nodes are inserted by a native library, got the search in " + searcher.name());
        }
        this.insertion = nativeSearch;
        this.width = width;
        this.links = 2 * m;
        GraphImage.Shape shape = new GraphImage.Shape(
                Metric.SQUARED_L2, coded, dimension, room(2 * m), room(m), nodes, nodes, 0, 0, levelCounts);
        boolean done = false;
        try {
            this.image = GraphImage.allocate(shape, memory.arena());
            this.budget = Math.clamp(BYTES_PER_PIECE / image.searchedBytes(), GraphSearcher.TILE, MAX_PER_PIECE)
                    / GraphSearcher.TILE
                    * GraphSearcher.TILE;
            long upper = shape.upperLists();
            this.lengths = memory.allocate(((long) nodes * room(2 * m) + upper * room(m)) * Float.BYTES);
            this.build = memory.arena().allocate(LAYOUT);
            set("image", image.head());
            set("lengths", lengths);
            set("chosen", memory.allocate((nodes + upper) * Short.BYTES));
            set("locks", memory.allocate(nodes));
            LAYOUT.varHandle(groupElement("links")).set(build, 0L, 2 * m);
            LAYOUT.varHandle(groupElement("max_cover")).set(build, 0L, maxCover);
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
     * Computes the codes of all vectors, if nodes are compared by codes, before the first insertion.
     *
     * @param betweenNodes called before each node
     */
    public void encode(Runnable betweenNodes) {
        image.encode(betweenNodes);
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

    /**
     * Lets nodes of layer 0 that hardly any list has be in more lists, see {@link RareNodes}; after all nodes are trimmed. Called by one thread.
     *
     * @param betweenNodes called before each node
     */
    public void linkRare(Runnable betweenNodes) {
        new RareNodes(this).link(betweenNodes);
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

    /** Writes a link in the place of another one or behind the last. */
    void setLink(int level, int node, int i, int neighbor, float length) {
        image.setNeighbor(level, node, i, neighbor);
        lengths.setAtIndex(JAVA_FLOAT, firstLength(level, node) + i, length);
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
