package io.github.roost.core;

import java.util.Arrays;

/**
 * The nearest neighbours of one query, nearest first; ties by ascending id. The arrays are not copied: a receiver owns them.
 *
 * @param ids identifiers of the neighbours, what they mean is the index's
 * @param distances distances of the same length, ascending, smaller is nearer
 */
public record Neighbors(long[] ids, float[] distances) {
    public static final Neighbors EMPTY = new Neighbors(new long[0], new float[0]);

    public Neighbors {
        if (ids.length != distances.length) {
            throw new IllegalArgumentException(
                    "ids and distances must have one length, got " + ids.length + " and " + distances.length);
        }
    }

    /** Number of neighbours, at most the k that was asked for. */
    public int size() {
        return ids.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Neighbors that
                && Arrays.equals(ids, that.ids)
                && Arrays.equals(distances, that.distances);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(ids) + Arrays.hashCode(distances);
    }

    @Override
    public String toString() {
        return "Neighbors" + Arrays.toString(ids) + Arrays.toString(distances);
    }
}
