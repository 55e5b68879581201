package io.github.roost.index.hnsw.search;

import static io.github.roost.index.hnsw.search.GraphImage.INT;
import static io.github.roost.index.hnsw.search.GraphImage.LONG;
import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.vector.Vectors;
import io.github.roost.vector.memory.ScratchMemory;
import io.github.roost.vector.spi.ScratchPool;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Scratch memory of a scan for several queries: the queries, and the nearest nodes of each so far. Off-heap, pooled across tables and
 * threads. Used by one scan at a time.
 */
public final class GroupScratch {
    /** Max queries per scan. */
    public static final int MAX_QUERIES = 1_024;

    /** {@code struct group} in search.h. */
    static final StructLayout LAYOUT = MemoryLayout.structLayout(
            ADDRESS.withName("queries"),
            ADDRESS.withName("allowed"),
            ADDRESS.withName("found"),
            ADDRESS.withName("sizes"),
            ADDRESS.withName("bounds"),
            JAVA_LONG.withName("query_stride"),
            JAVA_INT.withName("count"),
            JAVA_INT.withName("width"),
            JAVA_INT.withName("inner_product"),
            MemoryLayout.paddingLayout(Integer.BYTES),
            ADDRESS.withName("image"));

    private static final VarHandle QUERIES = field("queries");
    private static final VarHandle ALLOWED = field("allowed");
    private static final VarHandle FOUND = field("found");
    private static final VarHandle SIZES = field("sizes");
    private static final VarHandle BOUNDS = field("bounds");
    private static final VarHandle QUERY_STRIDE = field("query_stride");
    private static final VarHandle COUNT = field("count");
    private static final VarHandle WIDTH = field("width");
    private static final VarHandle INNER_PRODUCT = field("inner_product");

    private static final ScratchPool<GroupScratch> POOL = new ScratchPool<>(GroupScratch::new);

    /** The arguments of a scan in C. */
    private final MemorySegment arguments = ScratchMemory.allocate(LAYOUT.byteSize());

    MemorySegment vectors = MemorySegment.NULL;
    /** {@code width} entries per query, a heap during the scan. */
    MemorySegment found = MemorySegment.NULL;

    MemorySegment sizes = MemorySegment.NULL;
    /** Per query the distance of its farthest entry if it has {@code width} entries, infinite otherwise. */
    MemorySegment bounds = MemorySegment.NULL;

    private int count;
    private int width;
    private int dimension;
    private int stride;

    private GroupScratch() {}

    private static VarHandle field(String name) {
        return LAYOUT.varHandle(groupElement(name));
    }

    /** Takes a scratch from the pool; the caller must {@linkplain #giveBack give it back} in a {@code finally} block. */
    public static GroupScratch take() {
        return POOL.take();
    }

    /** Returns the scratch to the pool. */
    public void giveBack() {
        POOL.giveBack(this);
    }

    /**
     * Prepares for a scan; the caller then writes each query through {@link #query}.
     *
     * @param queries number of queries, from 1 to {@link #MAX_QUERIES}
     * @param nearest number of nearest nodes to find per query, from 1
     */
    public void begin(GraphImage image, int queries, int nearest) {
        Vectors.requireRange("queries of a scan", queries, 1, MAX_QUERIES);
        dimension = image.shape().dimension();
        stride = (dimension + SearchScratch.LANES - 1) / SearchScratch.LANES * SearchScratch.LANES;
        vectors = roomFor(vectors, (long) queries * stride * Float.BYTES);
        found = roomFor(found, (long) queries * nearest * Long.BYTES);
        sizes = roomFor(sizes, (long) queries * Integer.BYTES);
        bounds = roomFor(bounds, (long) queries * Float.BYTES);
        count = queries;
        width = nearest;
        for (int query = 0; query < queries; query++) {
            sizes.setAtIndex(INT, query, 0);
            bounds.setAtIndex(JAVA_FLOAT, query, Float.POSITIVE_INFINITY);
            for (int i = dimension; i < stride; i++) {
                vectors.setAtIndex(JAVA_FLOAT, (long) query * stride + i, 0);
            }
        }
    }

    private static MemorySegment roomFor(MemorySegment room, long bytes) {
        return room.byteSize() >= bytes ? room : SearchScratch.zeroes(bytes + bytes / 2);
    }

    void requireBegun(GraphImage image) {
        if (count == 0 || dimension != image.shape().dimension()) {
            throw new IllegalStateException("the scratch was not begun for this scan");
        }
    }

    /** Writes the arguments of a call; this, and the set, must stay reachable until the call returns. */
    MemorySegment arguments(GraphImage image, NodeSet allowed) {
        QUERIES.set(arguments, 0L, vectors);
        ALLOWED.set(arguments, 0L, allowed.words(image));
        FOUND.set(arguments, 0L, found);
        SIZES.set(arguments, 0L, sizes);
        BOUNDS.set(arguments, 0L, bounds);
        QUERY_STRIDE.set(arguments, 0L, (long) stride);
        COUNT.set(arguments, 0L, count);
        WIDTH.set(arguments, 0L, width);
        INNER_PRODUCT.set(arguments, 0L, SearchArguments.innerProduct(image));
        return arguments;
    }

    /** The destination for the values of a query. */
    public GraphSearcher.Query query(int query) {
        long at = (long) query * stride * Float.BYTES;
        return values -> MemorySegment.copy(values, 0, vectors, JAVA_FLOAT, at, dimension);
    }

    /** A copy of a query's values, zero-padded to whole lanes. */
    float[] vector(int query) {
        float[] values = new float[stride];
        MemorySegment.copy(vectors, JAVA_FLOAT, (long) query * stride * Float.BYTES, values, 0, stride);
        return values;
    }

    /** Number of queries. */
    public int queries() {
        return count;
    }

    /** Offers an entry to the nearest nodes of a query, with the same result as the scans in C. */
    void offer(int query, long entry) {
        long first = (long) query * width;
        int size = sizes.getAtIndex(INT, query);
        int farthest = 0;
        for (int i = 1; i < size; i++) {
            if (found.getAtIndex(LONG, first + i) > found.getAtIndex(LONG, first + farthest)) {
                farthest = i;
            }
        }
        if (size < width) {
            found.setAtIndex(LONG, first + size, entry);
            sizes.setAtIndex(INT, query, size + 1);
        } else if (entry < found.getAtIndex(LONG, first + farthest)) {
            found.setAtIndex(LONG, first + farthest, entry);
        }
    }

    /** A copy of a query's found nodes. */
    public GraphSearcher.Found found(int query) {
        long[] entries = new long[sizes.getAtIndex(INT, query)];
        MemorySegment.copy(found, LONG, (long) query * width * Long.BYTES, entries, 0, entries.length);
        Arrays.sort(entries);
        return new Entries(entries);
    }

    private record Entries(long[] entries) implements GraphSearcher.Found {
        @Override
        public int size() {
            return entries.length;
        }

        @Override
        public int node(int i) {
            return (int) entries[i];
        }

        @Override
        public float distance(int i) {
            return SearchScratch.distanceOf(entries[i]);
        }
    }
}
