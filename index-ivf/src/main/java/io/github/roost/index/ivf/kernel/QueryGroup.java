package io.github.roost.index.ivf.kernel;

import io.github.roost.core.Metric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Queries that scan together, in off-heap memory that is kept from group to group. Fill with {@link #begin} and
 * {@link #add}, hand to a kernel, then {@link #finish}. Belongs to one thread.
 */
public final class QueryGroup {
    /** Most queries of a group. */
    public static final int MAX_QUERIES = 64;
    /** Most heap entries of a group, so that its memory stays within a few megabytes. */
    private static final int MAX_ENTRIES = 1 << 18;

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    MemorySegment queries = MemorySegment.NULL;
    MemorySegment heapDistances = MemorySegment.NULL;
    MemorySegment heapIds = MemorySegment.NULL;
    final MemorySegment capacities;
    final MemorySegment sizes;
    final MemorySegment bounds;
    int stride;
    int heapStride;
    boolean innerProduct;
    float bias;

    private final List<TopHeap> heaps = new ArrayList<>(MAX_QUERIES);

    /** An empty group; its memory lives as long as the group is reachable. */
    public QueryGroup() {
        Arena arena = Arena.ofAuto();
        this.capacities = arena.allocate(MAX_QUERIES * Integer.BYTES, Integer.BYTES);
        this.sizes = arena.allocate(MAX_QUERIES * Integer.BYTES, Integer.BYTES);
        this.bounds = arena.allocate(MAX_QUERIES * Float.BYTES, Float.BYTES);
    }

    /** How many queries of this {@code capacity} may scan together. */
    public static int limit(int capacity) {
        return Math.clamp(MAX_ENTRIES / capacity, 1, MAX_QUERIES);
    }

    /**
     * Empties the group.
     *
     * @param dimension length of the queries to come
     * @param capacity the largest capacity of the heaps to come; {@link #limit} of it is how many
     */
    public void begin(Metric metric, int dimension, int capacity) {
        heaps.clear();
        stride = RowRun.strideOf(dimension);
        heapStride = capacity;
        innerProduct = metric != Metric.SQUARED_L2;
        bias = metric == Metric.COSINE ? 1 : 0;
        int limit = limit(capacity);
        queries = roomFor(queries, (long) limit * stride * Float.BYTES);
        heapDistances = roomFor(heapDistances, (long) limit * capacity * Float.BYTES);
        heapIds = roomFor(heapIds, (long) limit * capacity * Long.BYTES);
    }

    /** A group is reused for vectors of all dimensions, so memory is grown by halves and never shrunk. */
    private static MemorySegment roomFor(MemorySegment segment, long bytes) {
        return segment.byteSize() >= bytes ? segment : Arena.ofAuto().allocate(bytes + bytes / 2, 64);
    }

    /**
     * Adds a query.
     *
     * @param query of the dimension that {@link #begin} was told
     * @param heap what it has found so far, which {@link #finish} brings up to date
     * @param bound rows farther than this are of no interest
     */
    public void add(float[] query, TopHeap heap, float bound) {
        int index = heaps.size();
        if (index >= limit(heapStride) || heap.capacity() > heapStride || RowRun.strideOf(query.length) != stride) {
            throw new IllegalArgumentException(
                    "a group of " + limit(heapStride) + " queries with heaps of " + heapStride
                            + " and stride " + stride + " takes no query " + index + " of dimension " + query.length
                            + " with a heap of " + heap.capacity());
        }
        long at = (long) index * stride * Float.BYTES;
        MemorySegment.copy(query, 0, queries, FLOAT, at, query.length);
        long padding = (long) (stride - query.length) * Float.BYTES;
        if (padding > 0) {
            queries.asSlice(at + (long) query.length * Float.BYTES, padding).fill((byte) 0);
        }
        capacities.setAtIndex(ValueLayout.JAVA_INT, index, heap.capacity());
        sizes.setAtIndex(ValueLayout.JAVA_INT, index, heap.size);
        bounds.setAtIndex(FLOAT, index, Math.min(bound, heap.bound()));
        long entry = (long) index * heapStride;
        MemorySegment.copy(heap.distances, 0, heapDistances, FLOAT, entry * Float.BYTES, heap.size);
        MemorySegment.copy(heap.ids, 0, heapIds, ValueLayout.JAVA_LONG, entry * Long.BYTES, heap.size);
        heaps.add(heap);
    }

    /** Number of queries added. */
    public int size() {
        return heaps.size();
    }

    /** Writes what the scans found back to the heaps. */
    public void finish() {
        for (int index = 0; index < heaps.size(); index++) {
            TopHeap heap = heaps.get(index);
            heap.resize(sizes.getAtIndex(ValueLayout.JAVA_INT, index));
            long entry = (long) index * heapStride;
            MemorySegment.copy(heapDistances, FLOAT, entry * Float.BYTES, heap.distances, 0, heap.size);
            MemorySegment.copy(heapIds, ValueLayout.JAVA_LONG, entry * Long.BYTES, heap.ids, 0, heap.size);
        }
        heaps.clear();
    }
}
