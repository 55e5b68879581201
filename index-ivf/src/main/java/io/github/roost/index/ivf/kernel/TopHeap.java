package io.github.roost.index.ivf.kernel;

import java.util.Arrays;

/** The best rows that one query has met so far: a bounded heap, worst at the root. Belongs to one thread at a time. */
public final class TopHeap {
    final float[] distances;
    final long[] ids;
    int size;

    /** @param capacity how many rows to keep, at least 1 */
    public TopHeap(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity must be at least 1, got " + capacity);
        }
        this.distances = new float[capacity];
        this.ids = new long[capacity];
    }

    /** Number of rows held. */
    public int size() {
        return size;
    }

    /** How many rows to keep. */
    public int capacity() {
        return ids.length;
    }

    /** Forgets all rows. */
    public void clear() {
        size = 0;
    }

    /** The distance beyond which no row gets in: infinite until the heap is full. */
    public float bound() {
        return size < ids.length ? Float.POSITIVE_INFINITY : distances[0];
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
