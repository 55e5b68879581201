package io.github.roost.index.ivf.kernel;

import java.util.Arrays;

/** The best rows that one query has met so far: a bounded heap, worst at the root. Belongs to one thread at a time. */
public final class TopHeap {
    private static final int LEAST_ROOM = 128;

    private final int capacity;
    /** As long as what is held needs, for a capacity that is seldom reached costs nothing then. */
    float[] distances;

    long[] ids;
    int size;

    /** @param capacity how many rows to keep, at least 1 */
    public TopHeap(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity must be at least 1, got " + capacity);
        }
        this.capacity = capacity;
        this.distances = new float[Math.min(capacity, LEAST_ROOM)];
        this.ids = new long[distances.length];
    }

    /** Makes room for so many rows, at most the capacity; what is held may be lost. */
    void resize(int rows) {
        if (rows > ids.length) {
            int room = (int) Math.min(capacity, 2L * rows);
            distances = new float[room];
            ids = new long[room];
        }
        size = rows;
    }

    /** Number of rows held. */
    public int size() {
        return size;
    }

    /** How many rows to keep. */
    public int capacity() {
        return capacity;
    }

    /** Forgets all rows. */
    public void clear() {
        size = 0;
    }

    /** The distance beyond which no row gets in: infinite until the heap is full. */
    public float bound() {
        return size < capacity ? Float.POSITIVE_INFINITY : distances[0];
    }

    /** The held ids, in no order. */
    public long[] copyOfIds() {
        return Arrays.copyOf(ids, size);
    }

    /** The distances of {@link #copyOfIds()}, in its order. */
    public float[] copyOfDistances() {
        return Arrays.copyOf(distances, size);
    }

    /** The id at the root; the only one where the capacity is 1. */
    public long rootId() {
        return ids[0];
    }
}
