package io.github.roost.index.ivf.kernel;

import java.util.Arrays;

/**
 * The nearest rows that one query has seen so far, in no order: all wanted rows once enough have been seen, and up to twice
 * as many, since the farthest are dropped only now and then (FAISS's reservoir). Ties go to the smaller id. Belongs to
 * one thread at a time.
 */
public final class Reservoir {
    private static final int MIN_ROOM = 128;

    private final int wanted;
    /** Sized for the rows held: then a large {@code wanted} that is seldom reached costs nothing. */
    float[] distances;

    long[] ids;
    int size;
    float bound = Float.POSITIVE_INFINITY;

    /** @param wanted number of rows to keep, at least 1 */
    public Reservoir(int wanted) {
        if (wanted < 1) {
            throw new IllegalArgumentException("wanted must be at least 1, got " + wanted);
        }
        this.wanted = wanted;
        this.distances = new float[(int) Math.min(2L * wanted, MIN_ROOM)];
        this.ids = new long[distances.length];
    }

    /** Makes room for {@code rows} rows, fewer than twice the wanted number; the rows held may be lost. */
    void resize(int rows) {
        if (rows > ids.length) {
            int room = (int) Math.min(2L * wanted, 2L * rows);
            distances = new float[room];
            ids = new long[room];
        }
        size = rows;
    }

    /** Number of rows held. */
    public int size() {
        return size;
    }

    /** Number of rows to keep. */
    public int wanted() {
        return wanted;
    }

    /** The max distance of a row that still gets in; infinite until the wanted number of rows has been seen. */
    public float bound() {
        return bound;
    }

    /** The held ids, in no order. */
    public long[] copyOfIds() {
        return Arrays.copyOf(ids, size);
    }

    /** The distances of {@link #copyOfIds()}, in the same order. */
    public float[] copyOfDistances() {
        return Arrays.copyOf(distances, size);
    }

    /** Copies the held rows, in no order, to the arrays from {@code at} on. */
    public void copyTo(long[] intoIds, float[] intoDistances, int at) {
        System.arraycopy(ids, 0, intoIds, at, size);
        System.arraycopy(distances, 0, intoDistances, at, size);
    }

    /** The id of the nearest row; there must be one. */
    public long nearestId() {
        int nearest = 0;
        for (int i = 1; i < size; i++) {
            if (distances[i] < distances[nearest] || (distances[i] == distances[nearest] && ids[i] < ids[nearest])) {
                nearest = i;
            }
        }
        return ids[nearest];
    }
}
