package io.github.roost.vector;

import io.github.roost.vector.kernel.FloatOrder;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The nearest neighbours of one query, nearest first; ties by ascending id. The arrays are not copied; the receiver owns them and may
 * change them. Threads may read concurrently, but not while one changes the arrays.
 *
 * @param ids external ids of the neighbours
 * @param distances distances of the same length, ascending; smaller is nearer
 */
public record Neighbors(long[] ids, float[] distances) {
    /** The empty result; shared, since empty arrays cannot be changed. */
    public static final Neighbors EMPTY = new Neighbors(new long[0], new float[0]);

    /** Checks that ids and distances have the same length. */
    public Neighbors {
        if (ids.length != distances.length) {
            throw new IllegalArgumentException(
                    "ids and distances must have one length, got " + ids.length + " and " + distances.length);
        }
    }

    /**
     * Sorts neighbours by distance, then id.
     *
     * @param ids external ids in any order; copied
     * @param distances their distances, of the same length; copied
     * @return the neighbours, nearest first
     */
    public static Neighbors sorted(long[] ids, float[] distances) {
        // Distance and position in one long: sorting primitives allocates little and does not box.
        long[] keys = new long[ids.length];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = (long) ordered(distances[i]) << Integer.SIZE | i;
        }
        Arrays.sort(keys);
        long[] sortedIds = new long[ids.length];
        float[] sortedDistances = new float[ids.length];
        int tiesFrom = 0;
        for (int i = 0; i < keys.length; i++) {
            sortedIds[i] = ids[(int) keys[i]];
            sortedDistances[i] = distances[(int) keys[i]];
            if (i + 1 == keys.length || keys[i] >> Integer.SIZE != keys[i + 1] >> Integer.SIZE) {
                Arrays.sort(sortedIds, tiesFrom, i + 1);
                tiesFrom = i + 1;
            }
        }
        return new Neighbors(sortedIds, sortedDistances);
    }

    /** Returns an int that sorts like the distance, with -0 equal to 0. */
    private static int ordered(float distance) {
        return FloatOrder.key(distance + 0f);
    }

    /**
     * Returns the k nearest of several results by a k-way merge.
     *
     * @param results any number of results, each nearest first
     * @param k the maximum number of neighbours, at least 0
     * @return at most {@code k} neighbours, nearest first
     */
    public static Neighbors merge(List<Neighbors> results, int k) {
        record Cursor(Neighbors neighbors, int position) implements Comparable<Cursor> {
            @Override
            public int compareTo(Cursor other) {
                int byDistance = Integer.compare(
                        ordered(neighbors.distances[position]), ordered(other.neighbors.distances[other.position]));
                return byDistance != 0
                        ? byDistance
                        : Long.compare(neighbors.ids[position], other.neighbors.ids[other.position]);
            }
        }
        PriorityQueue<Cursor> cursors = new PriorityQueue<>();
        long total = 0;
        for (Neighbors result : results) {
            total += result.size();
            if (result.size() > 0) {
                cursors.add(new Cursor(result, 0));
            }
        }
        int size = (int) Math.min(k, total);
        long[] ids = new long[size];
        float[] distances = new float[size];
        for (int i = 0; i < size; i++) {
            Cursor next = cursors.remove();
            ids[i] = next.neighbors.ids[next.position];
            distances[i] = next.neighbors.distances[next.position];
            if (next.position + 1 < next.neighbors.size()) {
                cursors.add(new Cursor(next.neighbors, next.position + 1));
            }
        }
        return new Neighbors(ids, distances);
    }

    /**
     * Returns the neighbours within a distance.
     *
     * @param radius the maximum distance, inclusive; infinite for all
     * @return the neighbours up to the radius, nearest first
     */
    public Neighbors within(float radius) {
        if (ids.length == 0 || distances[ids.length - 1] <= radius) {
            return this;
        }
        int size = 0;
        while (distances[size] <= radius) {
            size++;
        }
        return new Neighbors(Arrays.copyOf(ids, size), Arrays.copyOf(distances, size));
    }

    /** {@return the number of neighbours, at most the k of the request} */
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
