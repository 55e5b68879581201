package io.github.roost.index.hnsw.walk;

import static io.github.roost.index.hnsw.walk.GraphImage.INT;
import static io.github.roost.index.hnsw.walk.GraphImage.LONG;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.github.roost.core.ScratchPool;
import io.github.roost.core.Vectors;
import io.github.roost.topology.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * What a scan for several queries needs besides the table: the queries, and the nearest nodes of each so far. Off-heap, lent from scan
 * to scan whatever table or thread it is of. Belongs to one scan.
 */
public final class GroupScratch {
    /** The most queries of a scan. */
    public static final int MAX_QUERIES = 1_024;

    private static final ScratchPool<GroupScratch> POOL = new ScratchPool<>(GroupScratch::new);

    MemorySegment vectors = MemorySegment.NULL;
    /** Per query so many entries as the width, a heap while it is scanned for. */
    MemorySegment found = MemorySegment.NULL;

    MemorySegment sizes = MemorySegment.NULL;
    /** The distance of the farthest entry of each query that has as many as the width, infinite for others. */
    MemorySegment bounds = MemorySegment.NULL;

    private int count;
    private int width;
    private int dimension;
    private int stride;

    private GroupScratch() {}

    /** One that no other scan has; to be {@linkplain #giveBack given back} in a {@code finally} block. */
    public static GroupScratch take() {
        return POOL.take();
    }

    /** Ends its use by the scan that took it. */
    public void giveBack() {
        POOL.giveBack(this);
    }

    /**
     * Makes room for a scan; the values of each query come next, by {@link #query}.
     *
     * @param queries how many, from 1 to {@link #MAX_QUERIES}
     * @param nearest how many of the nearest nodes of each to find, from 1
     */
    public void begin(GraphImage image, int queries, int nearest) {
        Vectors.requireRange("queries of a scan", queries, 1, MAX_QUERIES);
        dimension = image.shape().dimension();
        stride = (dimension + WalkScratch.LANES - 1) / WalkScratch.LANES * WalkScratch.LANES;
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
        return room.byteSize() >= bytes
                ? room
                : DomainMemory.allocate(bytes + bytes / 2, Arena.ofAuto()).segment();
    }

    void requireBegun(GraphImage image) {
        if (count == 0 || dimension != image.shape().dimension()) {
            throw new IllegalStateException("the scratch was not begun for this scan");
        }
    }

    /** Where the values of a query are written. */
    public QueryValues query(int query) {
        long at = (long) query * stride;
        return (i, value) -> vectors.setAtIndex(JAVA_FLOAT, at + i, value);
    }

    /** A query's values up to whole lanes. */
    float[] vector(int query) {
        float[] values = new float[stride];
        MemorySegment.copy(vectors, JAVA_FLOAT, (long) query * stride * Float.BYTES, values, 0, stride);
        return values;
    }

    /** Number of queries. */
    public int queries() {
        return count;
    }

    int width() {
        return width;
    }

    /** Values from query to query. */
    int stride() {
        return stride;
    }

    /** Adds an entry to the nearest of a query, as the scans in C do. */
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

    /** What has been found for a query, a copy. */
    public FoundNodes found(int query) {
        long[] entries = new long[sizes.getAtIndex(INT, query)];
        MemorySegment.copy(found, LONG, (long) query * width * Long.BYTES, entries, 0, entries.length);
        Arrays.sort(entries);
        return new Entries(entries);
    }

    private record Entries(long[] entries) implements FoundNodes {
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
            return WalkScratch.distanceOf(entries[i]);
        }
    }
}
