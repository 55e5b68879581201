package io.github.roost.index.hnsw.walk;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.roost.core.Metric;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/**
 * A graph that nodes are inserted into, by several threads at once, in C (Malkov and Yashunin, IEEE TPAMI 42(4), 2020,
 * algorithms 1 and 4): an image of vectors of which the neighbour lists fill. Distances are squared L2. All vectors are written
 * first; then nodes are inserted in the order of their numbers, node 0, where searches begin, before all others. How threads
 * share lists is said in insert.h.
 *
 * <p>A list that has no room for one more neighbour is chosen anew from all of them, after the heuristic: the nearest first,
 * leaving out whoever is nearer to one that is kept than to the list's node. Places that are left are filled with those left out,
 * by a milder rule (as in Vamana; Subramanya et al., DiskANN, NeurIPS 2019). Which were chosen in the first way is remembered,
 * with their distances, so that a new choice compares each with the new ones alone.
 */
public final class GraphInsertion implements AutoCloseable {
    private static final int[] NO_NEIGHBORS = {};
    /** How much of vectors an insertion reads before it lets searches run: a few microseconds. */
    private static final long BYTES_PER_PIECE = 32 << 10;

    private static final int MAX_PER_PIECE = 64;

    private final NativeWalk insertion;
    private final BuildMemory memory = new BuildMemory();
    private final int budget;
    final GraphImage image;
    final MemorySegment lengths;
    final MemorySegment chosen;
    final MemorySegment locks;
    final int width;
    /** Neighbours that a list of layer 0 has in the end. */
    final int links;

    final float factor;

    /**
     * Memory for a graph.
     *
     * @param dimension components of a vector, from 1 to one more than tables have
     * @param m neighbours that a node has at most in an upper layer, twice as many in layer 0; a new one looks for as many
     * @param width of the search for them
     * @param alpha by what factor of squared distances a neighbour is nearer to one that is kept than to the list's node to be
     *     left out where there is room; at least 1
     * @param nodes how many there will be
     * @param levelCounts nodes of each upper layer, layer 1 first
     * @throws IllegalStateException if there is no native library, see {@link #isAvailable}
     */
    public GraphInsertion(int dimension, int m, int width, float alpha, int nodes, int[] levelCounts) {
        this(GraphWalks.preferred(), dimension, m, width, alpha, nodes, levelCounts);
    }

    /** By the instruction set of a walk. */
    GraphInsertion(GraphWalk walk, int dimension, int m, int width, float alpha, int nodes, int[] levelCounts) {
        if (!(walk instanceof NativeWalk nativeWalk)) {
            throw new IllegalStateException("nodes are inserted by a native library, got the walk in " + walk.name());
        }
        this.insertion = nativeWalk;
        this.width = width;
        this.links = 2 * m;
        this.factor = alpha;
        this.budget = Math.clamp(BYTES_PER_PIECE / ((long) dimension * Float.BYTES), GraphWalk.TILE, MAX_PER_PIECE)
                / GraphWalk.TILE
                * GraphWalk.TILE;
        GraphImage.Shape shape = new GraphImage.Shape(
                Metric.SQUARED_L2, false, dimension, room(2 * m), room(m), nodes, nodes, 0, 0, levelCounts);
        boolean done = false;
        try {
            this.image = GraphImage.allocate(shape, memory.arena());
            long upper = shape.upperLists();
            this.lengths = memory.allocate(((long) nodes * room(2 * m) + upper * room(m)) * Float.BYTES);
            this.chosen = memory.allocate((nodes + upper) * Short.BYTES);
            this.locks = memory.allocate(nodes);
            done = true;
        } finally {
            if (!done) {
                memory.close();
            }
        }
    }

    /** Lists are chosen anew once in a quarter of their length: a choice takes longer than following a few links more. */
    private static int room(int neighbors) {
        return neighbors + Math.max(1, neighbors / 4);
    }

    /** Whether this machine can insert natively, and is not told otherwise by {@link GraphWalks#PROPERTY}. */
    public static boolean isAvailable() {
        return GraphWalks.preferred() instanceof NativeWalk;
    }

    /** Writes a node's vector, which has no neighbours yet. Threads write different nodes. */
    public void setVector(int node, float[] values) {
        image.setVector(node, values);
        image.setNeighbors(0, node, NO_NEIGHBORS, 0);
        for (int level = 1; level <= image.levels() && node < image.nodes(level); level++) {
            image.setNeighbors(level, node, NO_NEIGHBORS, 0);
        }
    }

    /**
     * Copies the beginning of a node's vector.
     *
     * @param count how many components
     */
    public void vector(int node, float[] into, int count) {
        MemorySegment.copy(image.memory(), GraphImage.FLOAT_ANYWHERE, image.vectorAt(node), into, 0, count);
    }

    /**
     * Inserts a node whose vector has been set, as all others' have been, in a few hundred microseconds; called by several
     * threads at once, once per node.
     *
     * @param betweenPieces runs every few microseconds; what it throws leaves the graph of no use
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

    /** Brings a node's lists to their lengths, once all nodes are in the graph; threads do different nodes. */
    public void trim(int node) {
        insertion.trim(this, node);
    }

    /** The graph, once all nodes are in it and trimmed. */
    public GraphLinks links() {
        return new Links();
    }

    private final class Links implements GraphLinks {
        @Override
        public int levels() {
            return image.levels();
        }

        @Override
        public int entry() {
            return 0;
        }

        @Override
        public int[] nodes(int level) {
            return IntStream.range(0, image.nodes(level)).toArray();
        }

        @Override
        public int neighbors(int level, int node, int[] into) {
            long[] entries = new long[image.degree(level)];
            int count = 0;
            for (int neighbor = image.neighbor(level, node, 0); neighbor >= 0; ) {
                float length = length(level, node, count);
                // Those that came last lie at the end, wherever they belong.
                long entry = WalkScratch.entry(length, neighbor);
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
    }

    /** The squared distance that a link spans, as it is remembered. */
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
