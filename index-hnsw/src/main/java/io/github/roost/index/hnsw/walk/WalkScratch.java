package io.github.roost.index.hnsw.walk;

import static io.github.roost.index.hnsw.walk.GraphImage.INT;
import static io.github.roost.index.hnsw.walk.GraphImage.LONG;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.roost.core.ScratchPool;
import io.github.roost.core.Vectors;
import io.github.roost.topology.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What one search needs besides the table: the query, marks, heaps, and what was found. Off-heap, lent from search to search
 * whatever table or thread it is of; grown to the largest table, but only pages that are touched cost memory. Belongs to one
 * search.
 */
public final class WalkScratch {
    /** The lanes in which every walk sums, so that all give the same bits. */
    static final int LANES = 16;

    private static final ScratchPool<WalkScratch> POOL = new ScratchPool<>(WalkScratch::new);
    /** Words of a set that are copied, or joined, before it is seen whether the search is still wanted. */
    private static final int RUN = 4_096;

    private static final int ENTRY_BYTES = Long.BYTES;

    private static final int PROGRESS_BYTES = 128;
    private static final int AT_SIZE = 4;
    private static final int AT_LOGGED = 8;
    private static final int AT_COMPUTED = 16;
    private static final int AT_EXPANDED = 24;

    /** With room for the one more dimension that graphs for inner product are built with. */
    final MemorySegment query = Arena.ofAuto().allocate((Vectors.MOST_DIMENSIONS + (long) LANES) * Float.BYTES, 64);
    /** The query as it is compared with codes, up to two bytes a component. */
    final MemorySegment weights = Arena.ofAuto().allocate(2L * Vectors.MOST_DIMENSIONS, 64);

    /** How far the search is; laid out as {@code struct progress} in walk.h. */
    final MemorySegment progress = Arena.ofAuto().allocate(PROGRESS_BYTES, Long.BYTES);
    /** The search where it is one in Java. */
    JavaWalk.@Nullable Search inJava;

    MemorySegment visited = MemorySegment.NULL;
    MemorySegment candidates = MemorySegment.NULL;
    MemorySegment log = MemorySegment.NULL;
    MemorySegment found = MemorySegment.NULL;
    private MemorySegment common = MemorySegment.NULL;
    private int nodes;
    private int width;
    private int dimension;

    private WalkScratch() {}

    /** One that no other search has; to be {@linkplain #giveBack given back} in a {@code finally} block. */
    public static WalkScratch take() {
        return POOL.take();
    }

    /** Ends its use by the search that took it. */
    public void giveBack() {
        inJava = null;
        POOL.giveBack(this);
    }

    /** Makes room for a search of this width; {@link #setQuery} comes next. */
    public WalkScratch begin(GraphImage image, int searchWidth) {
        int imageNodes = image.shape().nodes();
        if (imageNodes > nodes) {
            // A node is a candidate once at most, and one more has room in each.
            int roomFor = imageNodes + imageNodes / 4;
            MemorySegment moreVisited = zeroes((roomFor / Long.SIZE + 1L) * Long.BYTES);
            MemorySegment moreCandidates = zeroes((roomFor + 1L) * ENTRY_BYTES);
            MemorySegment moreLog = zeroes((roomFor + 1L + GraphWalk.TILE) * Integer.BYTES);
            // Only when all are there: where memory runs out, no search may take what there was for more.
            visited = moreVisited;
            candidates = moreCandidates;
            log = moreLog;
            nodes = roomFor;
        }
        if (searchWidth > width) {
            found = zeroes((long) searchWidth * ENTRY_BYTES);
            width = searchWidth;
        }
        dimension = image.shape().dimension();
        forgetProgress();
        // The values after the query's last, up to whole lanes, which nobody sets.
        for (int i = dimension; i % LANES != 0; i++) {
            query.setAtIndex(JAVA_FLOAT, i, 0);
        }
        return this;
    }

    /** Takes the marks of a search off that does not come to its end. */
    public void abandon() {
        long logged = logged();
        long words = nodes / Long.SIZE + 1L;
        if (logged > words) {
            visited.asSlice(0, words * Long.BYTES).fill((byte) 0);
        } else {
            for (long i = 0; i < logged; i++) {
                forget(log.getAtIndex(INT, i));
            }
        }
        forgetProgress();
    }

    private void forgetProgress() {
        for (int at = 0; at <= AT_EXPANDED; at += Long.BYTES) {
            progress.set(LONG, at, 0);
        }
        inJava = null;
    }

    /**
     * The nodes of an image that are in both sets, where walks can read them; valid until the next call or search.
     *
     * @param betweenRuns runs every few microseconds
     */
    public NodeSet both(GraphImage image, NodeSet a, NodeSet b, Runnable betweenRuns) {
        if (a != NodeSet.ALL && b != NodeSet.ALL) {
            return a.and(b, roomForSet(image.shape().nodes()), RUN, betweenRuns);
        }
        NodeSet one = a == NodeSet.ALL ? b : a;
        NodeSet offHeap = one.offHeap();
        return offHeap != null ? offHeap : one.copyTo(roomForSet(image.shape().nodes()), RUN, betweenRuns);
    }

    /** Memory for a set of this many bits, which the next set overwrites. */
    MemorySegment roomForSet(int bits) {
        long bytes = (bits / Long.SIZE + 1L) * Long.BYTES;
        if (common.byteSize() < bytes) {
            common = zeroes(bytes);
        }
        return common;
    }

    private static MemorySegment zeroes(long bytes) {
        return DomainMemory.allocate(bytes, Arena.ofAuto()).segment();
    }

    /** Writes value {@code i} of the query. */
    public void setQuery(int i, float value) {
        query.setAtIndex(JAVA_FLOAT, i, value);
    }

    void requireBegun(GraphImage image, int searchWidth, int budget) {
        if (budget < GraphWalk.TILE || budget % GraphWalk.TILE != 0) {
            throw new IllegalArgumentException(
                    "the budget must be a multiple of " + GraphWalk.TILE + " from there on, got " + budget);
        }
        if (nodes < image.shape().nodes()
                || width < searchWidth
                || dimension != image.shape().dimension()) {
            throw new IllegalStateException("the scratch was not begun for this search");
        }
    }

    void setSize(int value) {
        progress.set(INT, AT_SIZE, value);
    }

    /** How many nodes were found. */
    public int size() {
        return progress.get(INT, AT_SIZE);
    }

    /** A found node, the nearest at 0. */
    public int node(int i) {
        return (int) entry(i);
    }

    /** Its distance, for inner product its negated inner product; in the scale of the image. */
    public float distance(int i) {
        return distanceOf(entry(i));
    }

    private long entry(int i) {
        return found.getAtIndex(LONG, i);
    }

    /** How many distances the search computed, those of what is measured again after a walk over codes included. */
    public long computed() {
        return progress.get(LONG, AT_COMPUTED);
    }

    /** How many nodes of layer 0 had their neighbours looked at. */
    public long expanded() {
        return progress.get(LONG, AT_EXPANDED);
    }

    void setExpanded(long value) {
        progress.set(LONG, AT_EXPANDED, value);
    }

    void setComputed(long value) {
        progress.set(LONG, AT_COMPUTED, value);
    }

    /** A distance and a node as one number, in their order. */
    static long entry(float distance, int node) {
        int bits = Float.floatToRawIntBits(distance);
        return (long) (bits ^ (bits >> 31 & 0x7fffffff)) << Integer.SIZE | Integer.toUnsignedLong(node);
    }

    static float distanceOf(long entry) {
        int bits = (int) (entry >> Integer.SIZE);
        return Float.intBitsToFloat(bits ^ (bits >> 31 & 0x7fffffff));
    }

    boolean isVisited(int node) {
        return (visited.getAtIndex(LONG, node / Long.SIZE) >>> node & 1) != 0;
    }

    /** Marks a node, and adds it to the log. */
    void visit(int node) {
        int word = node / Long.SIZE;
        long logged = logged();
        visited.setAtIndex(LONG, word, visited.getAtIndex(LONG, word) | 1L << node);
        log.setAtIndex(INT, logged, node);
        progress.set(LONG, AT_LOGGED, logged + 1);
    }

    /** How many nodes are in the log. */
    long logged() {
        return progress.get(LONG, AT_LOGGED);
    }

    void forget(int node) {
        visited.setAtIndex(LONG, node / Long.SIZE, 0);
    }
}
