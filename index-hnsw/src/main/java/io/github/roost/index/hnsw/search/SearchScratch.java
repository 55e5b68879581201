package io.github.roost.index.hnsw.search;

import static io.github.roost.index.hnsw.search.GraphImage.INT;
import static io.github.roost.index.hnsw.search.GraphImage.LONG;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.kernel.FloatOrder;
import io.github.roost.vector.memory.ScratchMemory;
import io.github.roost.vector.spi.ScratchPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Scratch memory of one search: the query, visited marks, heaps, and the found nodes. Off-heap, pooled across tables and threads. It
 * grows to the size of the largest table, but only touched pages take memory. Used by one search at a time.
 *
 * <p>Every {@value #USES} searches of a scratch its lists are freed if they are far larger than these searches needed, and those of
 * scratches in the pool that nobody has used since the last such look. Who looks takes what it looks at from the pool, so that the fields
 * of a scratch belong to one thread at a time.
 */
public final class SearchScratch implements GraphSearcher.Found, GraphSearcher.Query {
    /** Lanes in which every implementation sums, so that all give the same bits. */
    static final int LANES = 16;

    private static final ScratchPool<SearchScratch> POOL = new ScratchPool<>(SearchScratch::new);
    /** Words of a set that are copied or intersected between two expiry checks. */
    private static final int RUN = 4_096;

    /** Searches between two looks for memory that is not needed. */
    static final int USES = 256;
    /** Lists of at most this size are not freed. */
    private static final long SMALL_BYTES = 1 << 20;
    /** Lists that are more than this many times larger than needed are freed. */
    private static final int FAR_LARGER = 4;

    private static final int ENTRY_BYTES = Long.BYTES;
    /** A visited node is a candidate, is logged and may be found. */
    private static final int NODE_BYTES = 2 * ENTRY_BYTES + Integer.BYTES;

    private static final long PROGRESS_BYTES = 128;
    private static final long QUERY_BYTES = (Vectors.MAX_DIMENSIONS + (long) LANES) * Float.BYTES;
    private static final long WEIGHT_BYTES = 3L * Vectors.MAX_DIMENSIONS;
    private static final int AT_SIZE = 4;
    private static final int AT_LOGGED = 8;
    private static final int AT_COMPUTED = 16;
    private static final int AT_EXPANDED = 24;

    /** The query, with room for the additional dimension with which inner-product graphs are built. */
    final MemorySegment query;
    /** The query's weights for codes, up to three bytes per component. */
    final MemorySegment weights;

    /** The arguments of a search in C. */
    final SearchArguments arguments;

    /** The state of the search; laid out as {@code struct progress} in search.h. */
    final MemorySegment progress;
    /** The state of a search in Java. */
    JavaSearch.@Nullable Search inJava;

    private boolean isScan;
    private boolean isUnsure;

    MemorySegment visited = MemorySegment.NULL;
    MemorySegment candidates = MemorySegment.NULL;
    MemorySegment log = MemorySegment.NULL;
    MemorySegment found = MemorySegment.NULL;
    private MemorySegment common = MemorySegment.NULL;
    private int nodes;
    private int width;
    private int dimension;
    /** The searches since this scratch looked, and the most bytes of lists that one of them needed. */
    private int uses;

    private long needed;
    /** Whether there was a search since others looked. */
    private boolean used;

    private SearchScratch() {
        SegmentAllocator memory = SegmentAllocator.slicingAllocator(ScratchMemory.allocate(
                PROGRESS_BYTES + QUERY_BYTES + WEIGHT_BYTES + SearchArguments.LAYOUT.byteSize()));
        progress = memory.allocate(PROGRESS_BYTES);
        query = memory.allocate(QUERY_BYTES);
        weights = memory.allocate(WEIGHT_BYTES);
        arguments = new SearchArguments(memory.allocate(SearchArguments.LAYOUT));
    }

    /** Takes a scratch from the pool; the caller must {@linkplain #giveBack give it back} in a {@code finally} block. */
    public static SearchScratch take() {
        return POOL.take();
    }

    /** Returns the scratch to the pool. */
    public void giveBack() {
        inJava = null;
        if (uses >= USES) {
            if (reserved() > FAR_LARGER * needed) {
                free();
            }
            uses = 0;
            needed = 0;
            POOL.visitKept(SearchScratch::look);
        }
        POOL.giveBack(this);
    }

    /** Frees the lists of a scratch in the pool that was not used since the last look. */
    private void look() {
        if (!used) {
            free();
        }
        used = false;
    }

    /** Frees the lists. Their pages are given back at once, the addresses when the garbage collector finds that nobody has them. */
    private void free() {
        if (reserved() > SMALL_BYTES) {
            Stream.of(visited, candidates, log, found, common)
                    .filter(list -> list.byteSize() > 0)
                    .forEach(DomainMemory::release);
            visited = candidates = log = found = common = MemorySegment.NULL;
            nodes = 0;
            width = 0;
        }
    }

    /** The bytes of the lists, of which a search touches a part. */
    private long reserved() {
        return visited.byteSize() + candidates.byteSize() + log.byteSize() + found.byteSize() + common.byteSize();
    }

    /** The bytes of the lists of all scratches in the pool. */
    static long pooledBytes() {
        LongAdder bytes = new LongAdder();
        POOL.visitKept(scratch -> bytes.add(scratch.reserved()));
        return bytes.sum();
    }

    /**
     * The bytes that a search touches at most.
     *
     * @param nodes number of nodes of the graph
     * @param visits number of nodes that are visited at most
     */
    public static long bytes(int nodes, long visits) {
        return PROGRESS_BYTES
                + QUERY_BYTES
                + WEIGHT_BYTES
                + SearchArguments.LAYOUT.byteSize()
                + 2 * setBytes(nodes)
                + Math.min(nodes, visits) * NODE_BYTES;
    }

    private static long setBytes(int bits) {
        return (bits / Long.SIZE + 1L) * Long.BYTES;
    }

    /** Makes the graph search that has been begun compare all allowed nodes, rather than follow links. */
    public void scan() {
        isScan = true;
    }

    boolean isScan() {
        return isScan;
    }

    /** Prepares for a search of this width; the caller then writes the query with {@link #setQuery}. Returns this. */
    public SearchScratch begin(GraphImage image, int searchWidth) {
        int imageNodes = image.shape().nodes();
        uses++;
        used = true;
        needed = Math.max(
                needed, 2 * setBytes(imageNodes) + (long) imageNodes * NODE_BYTES + (long) searchWidth * ENTRY_BYTES);
        if (imageNodes > nodes) {
            // A node is a candidate at most once; each list has one spare entry.
            int roomFor = roomFor(imageNodes);
            MemorySegment moreVisited = zeroes(setBytes(roomFor));
            MemorySegment moreCandidates = zeroes((roomFor + 1L) * ENTRY_BYTES);
            MemorySegment moreLog = zeroes((roomFor + 1L + GraphSearcher.TILE) * Integer.BYTES);
            // Assigned only after all allocations succeeded, so that an OutOfMemoryError leaves the sizes consistent.
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
        isScan = false;
        isUnsure = false;
        forgetProgress();
        // Zero the padding after the query's last value, up to whole lanes.
        for (int i = dimension; i % LANES != 0; i++) {
            query.setAtIndex(JAVA_FLOAT, i, 0);
        }
        return this;
    }

    /** A quarter more than the nodes of an image, so that a table that grows does not need new memory each time. */
    static int roomFor(int nodes) {
        return (int) Math.min(Integer.MAX_VALUE, nodes + nodes / 4L);
    }

    /** Clears the marks of a search that is not run to its end. */
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
     * The nodes of an image that are in both sets, as an off-heap set; valid until the next call or search.
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

    /** Memory for a set of this many bits; the next set overwrites it. */
    MemorySegment roomForSet(int bits) {
        common = ScratchMemory.roomFor(common, setBytes(bits));
        return common;
    }

    /** On huge pages if it is large, unlike {@link ScratchMemory}: searches access it at random. */
    static MemorySegment zeroes(long bytes) {
        return DomainMemory.allocate(bytes, Arena.ofAuto());
    }

    @Override
    public void setQuery(float[] values) {
        MemorySegment.copy(values, 0, query, JAVA_FLOAT, 0, dimension);
    }

    void requireBegun(GraphImage image, int searchWidth, int budget) {
        if (budget < GraphSearcher.TILE || budget % GraphSearcher.TILE != 0) {
            throw new IllegalArgumentException(
                    "the budget must be a multiple of " + GraphSearcher.TILE + " from there on, got " + budget);
        }
        if (nodes < image.shape().nodes()
                || width < searchWidth
                || dimension != image.shape().dimension()) {
            throw new IllegalStateException("the scratch was not begun for this search");
        }
    }

    /** Whether all found nodes were reranked by their vectors, and their codes do not tell which of them are near. */
    public boolean isUnsure() {
        return isUnsure;
    }

    void setUnsure(boolean value) {
        isUnsure = value;
    }

    void setSize(int value) {
        progress.set(INT, AT_SIZE, value);
    }

    @Override
    public int size() {
        return progress.get(INT, AT_SIZE);
    }

    @Override
    public int node(int i) {
        return (int) entry(i);
    }

    @Override
    public float distance(int i) {
        return distanceOf(entry(i));
    }

    private long entry(int i) {
        return found.getAtIndex(LONG, i);
    }

    /** Number of distances that the search computed, including the rerank after a search over codes. */
    public long computed() {
        return progress.get(LONG, AT_COMPUTED);
    }

    /** Number of nodes expanded in layer 0. */
    public long expanded() {
        return progress.get(LONG, AT_EXPANDED);
    }

    void setExpanded(long value) {
        progress.set(LONG, AT_EXPANDED, value);
    }

    void setComputed(long value) {
        progress.set(LONG, AT_COMPUTED, value);
    }

    /** Packs a distance and a node into one number with the order of (distance, node). */
    public static long entry(float distance, int node) {
        return (long) FloatOrder.key(distance) << Integer.SIZE | Integer.toUnsignedLong(node);
    }

    static float distanceOf(long entry) {
        return FloatOrder.value((int) (entry >> Integer.SIZE));
    }

    boolean isVisited(int node) {
        return (visited.getAtIndex(LONG, node / Long.SIZE) >>> node & 1) != 0;
    }

    /** Marks a node as visited and adds it to the log. */
    void visit(int node) {
        int word = node / Long.SIZE;
        visited.setAtIndex(LONG, word, visited.getAtIndex(LONG, word) | 1L << node);
        log(node);
    }

    /** Number of nodes in the log. */
    long logged() {
        return progress.get(LONG, AT_LOGGED);
    }

    void forget(int node) {
        visited.setAtIndex(LONG, node / Long.SIZE, 0);
    }

    /** Adds a node to the log. */
    void log(int node) {
        long logged = logged();
        log.setAtIndex(INT, logged, node);
        progress.set(LONG, AT_LOGGED, logged + 1);
    }
}
